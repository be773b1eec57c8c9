package catalog

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// failures counts the errors of a test that should fail.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestCompareFindsWhatIsNotAsKnown(t *testing.T) {
	claims := []lab.Claim{{Name: "good"}, {Name: "bad", Why: "it is so"}}
	for _, c := range []struct {
		check lab.Check
		want  int
	}{
		{lab.Check{Name: "good", Verdict: lab.Reproduced}, 0},
		{lab.Check{Name: "bad", Verdict: lab.Differs, Known: true}, 0},
		{lab.Check{Name: "bad", Verdict: lab.Shown}, 0},
		{lab.Check{Name: "bad", Verdict: lab.Reproduced}, 1},
		{lab.Check{Name: "good", Verdict: lab.Differs}, 1},
	} {
		f := &failures{TB: t}
		if compare(f, claims, []lab.Check{c.check}); f.n != c.want {
			t.Errorf("%+v: %d failures, want %d", c.check, f.n, c.want)
		}
	}
}

func TestOnlyWhatMayNeverHappenIsAssertedOfBriefRuns(t *testing.T) {
	for name, want := range map[string]int{"no member denied": 1, "rate": 0, "none of them": 0} {
		f := &failures{TB: t}
		never(f, []lab.Check{{Name: name, Verdict: lab.Differs}, {Name: name, Verdict: lab.Reproduced}})
		if f.n != want {
			t.Errorf("%q: %d failures, want %d", name, f.n, want)
		}
	}
}

func TestParametersAreReplacedByNameAndType(t *testing.T) {
	quick := lab.Params{lab.Int("keys", 1000), lab.Ints("sizes", 1, 2, 3), lab.Float("rate", 0.1)}
	brief := lab.Params{lab.Int("keys", 10), lab.Int("sizes", 4), lab.Float("rates", 0.5)}
	e := lab.Env{Params: replace(quick, brief)}
	if e.Int("keys") != 10 || len(e.Ints("sizes")) != 3 || e.Float("rate") != 0.1 || len(e.Params) != len(quick) {
		t.Errorf("%v", e.Params)
	}
	if quick[0].Value != 1000 {
		t.Errorf("the quick variant was changed: %v", quick)
	}
	if got, want := unused([]lab.Experiment{{Params: quick}}, brief), []string{"sizes", "rates"}; !slices.Equal(got, want) {
		t.Errorf("unused: %q, want %q", got, want)
	}
}

// draws is an experiment whose result is the numbers of its trials.
var draws = lab.Experiment{
	ID:     "x/draws",
	Params: lab.Params{lab.Int("trials", 1000)},
	Run: func(ctx context.Context, e *lab.Env) (*lab.Result, error) {
		drawn, err := lab.Trials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (uint64, error) { return r.Uint64(), nil })
		return &lab.Result{Checks: []lab.Check{{Name: "numbers", Ours: fmt.Sprint(drawn), Verdict: lab.Shown}}}, err
	},
}

func TestAGoodExperimentPasses(t *testing.T) {
	list, brief := []lab.Experiment{draws}, lab.Params{lab.Int("trials", 10)}
	tryClaims(t, list)
	tryBriefly(t, list, brief)
	trySeeds(t, list, brief)
	tryInterrupted(t, list)
}
