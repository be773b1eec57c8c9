package ebf21

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter/filtertest"
	"github.com/everbloom-go/everbloom/lab"
)

// seed of all runs here.
const seed = 1

// outcome is what a quick run must find: the checks that differ, by how their names
// begin, in order. All others reproduce or show something. Of timings only what is
// no timing can be expected.
type outcome struct {
	x       lab.Experiment
	differs []string
	plots   int
	timing  bool
}

var outcomes = []outcome{
	{x: operations, differs: []string{"cardinality of a union"}},
	{x: formulas, plots: 1, differs: []string{"k of Sec. 4.3", "m of Sec. 4.3", "Lemma 4.1 where", "Eq. (2) and (3), right side", "D of Sec. 4.3", "overflows with that D"}},
	{x: theorem42, plots: 1, differs: []string{"p = "}},
	{x: table1, plots: 1},
	{x: fig3, plots: 2, differs: []string{"2^14 keys do not trigger"}},
	{x: fig4, plots: 1},
	{x: fig5, plots: 4, timing: true},
	{x: fig6, plots: 3, timing: true},
	{x: fig7, plots: 1, timing: true},
	{x: fig8a, plots: 1, differs: []string{"EBF takes less slow memory than CBF"}},
	{x: fig8b, plots: 2, timing: true},
	{x: fig9a, plots: 1},
	{x: fig9b, plots: 1},
}

func TestEveryExperimentIsExpected(t *testing.T) {
	for i, x := range Experiments() {
		if i >= len(outcomes) || outcomes[i].x.ID != x.ID {
			t.Fatalf("experiment %d is %s", i, x.ID)
		}
		if err := x.Check(); err != nil {
			t.Error(err)
		}
	}
}

func TestQuickRunsFindWhatIsKnown(t *testing.T) {
	for _, o := range outcomes {
		t.Run(strings.TrimPrefix(o.x.ID, "ebf21/"), func(t *testing.T) { o.run(t) })
	}
}

func (o outcome) run(t *testing.T) {
	t.Helper()
	result, err := o.x.Do(t.Context(), &lab.Env{Params: lighter(o.x.Quick), Seed: seed})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if len(result.Plots) < o.plots || len(result.Tables)+len(result.Plots)+len(result.Checks) == 0 {
		t.Errorf("%d plots, %d tables, %d checks", len(result.Plots), len(result.Tables), len(result.Checks))
	}
	if o.timing {
		if len(result.Notes) == 0 || !strings.HasPrefix(result.Notes[0], "This is a timing.") {
			t.Errorf("a timing must say so: %q", result.Notes)
		}
		for _, c := range result.Checks {
			if c.Unexpected() {
				t.Errorf("%s: a timing that differs by chance has no reason", c.Name)
			}
		}
		return
	}
	if !filtertest.UnderRace { // with few trials chance decides
		o.compare(t, result)
	}
}

// compare looks at the verdicts.
func (o outcome) compare(t *testing.T, result *lab.Result) {
	t.Helper()
	rest := o.differs
	for _, c := range result.Checks {
		t.Log(c.Verdict, "|", c.Name, "|", c.Ours, "|", c.Tolerance)
		switch known := len(rest) > 0 && strings.HasPrefix(c.Name, rest[0]); {
		case c.Verdict == lab.Differs && known:
			rest = rest[1:]
		case c.Verdict == lab.Differs:
			t.Errorf("seed %d: %s: printed %s, ours %s, tolerance %s", seed, c.Name, c.Printed, c.Ours, c.Tolerance)
		case known:
			t.Errorf("seed %d: %s has reproduced: %s", seed, c.Name, c.Ours)
		}
	}
	if len(rest) > 0 {
		t.Errorf("seed %d: not there or not differing: %q", seed, rest)
	}
}

// lighter returns less work where the race detector watches, which makes it slow
// and looks for something else.
func lighter(p lab.Params) lab.Params {
	if !filtertest.UnderRace {
		return p
	}
	p = slices.Clone(p)
	most := map[string]int{"trials": 2, "rounds": 1, "queries": 500, "keys": 1000, "waves": 1, "doublings": 3, "final size, log2": 14, "initial size, log2": 12}
	for i, param := range p {
		switch v := param.Value.(type) {
		case int:
			if limit, ok := most[param.Name]; ok {
				p[i].Value = min(v, limit)
			}
		case []int:
			p[i].Value = v[:min(len(v), 2)]
		case []float64:
			p[i].Value = v[:min(len(v), 3)]
		}
	}
	return p
}

func TestRunsStopWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range Experiments() {
		if _, err := x.Do(ctx, &lab.Env{Params: lighter(x.Quick)}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", x.ID, err)
		}
	}
}

// TestRunsDependOnTheSeedAlone runs what measures no times twice, with one worker
// and with several.
func TestRunsDependOnTheSeedAlone(t *testing.T) {
	for _, x := range []lab.Experiment{table1, theorem42, fig9b} {
		p := slices.Clone(lighter(x.Quick))
		for i := range p {
			switch p[i].Name {
			case "trials", "waves", "expansions":
				p[i].Value = 2
			case "queries":
				p[i].Value = 500
			}
		}
		var ours [2]string
		for i := range ours {
			result, err := x.Do(t.Context(), &lab.Env{Params: p, Seed: 7, Workers: 1 + 3*i})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range result.Checks {
				ours[i] += c.Ours + "\n"
			}
		}
		if ours[0] != ours[1] {
			t.Errorf("%s: %s and then %s", x.ID, ours[0], ours[1])
		}
	}
}
