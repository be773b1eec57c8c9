package dpbf19

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter/filtertest"
	"github.com/everbloom-go/everbloom/lab"
)

// differing has the checks that are known to differ, by experiment.
var differing = map[string][]string{
	"dpbf19/space":   {"uBFs of the CPBPT: at most s, one for each leaf as in Def. 2.4"},
	"dpbf19/theorem": {"f_t = 0.0001: units of the lists", "f_t = 0.01: units of the lists", "proof, last line"},
}

func TestVerdictsAreAsKnown(t *testing.T) {
	if filtertest.UnderRace {
		t.Skip("see TestTrialsDoNotRace")
	}
	for _, x := range Experiments() {
		t.Run(x.ID, func(t *testing.T) {
			result, err := x.Do(t.Context(), &lab.Env{Params: x.Quick, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			known := map[string]bool{}
			for _, name := range differing[x.ID] {
				known[name] = true
			}
			for _, c := range result.Checks {
				timing := strings.Contains(c.Name, "(timing)") // tests assert nothing about times
				if !timing && ((c.Verdict == lab.Differs) != known[c.Name] || c.Unexpected()) {
					t.Errorf("seed 1: %s: %s, known to differ: %t; printed %s, ours %s, tolerance %s", c.Name, c.Verdict, known[c.Name], c.Printed, c.Ours, c.Tolerance)
				}
				delete(known, c.Name)
			}
			for name := range known {
				t.Errorf("there is no check %q", name)
			}
		})
	}
}

// TestTrialsDoNotRace runs everything as briefly as it can be run.
func TestTrialsDoNotRace(t *testing.T) {
	brief := map[string]int{
		"sets": 3, "queries": 500, "units of a list to ask": 500, "rounds": 2, "microseconds a turn": 10, "chains": 3, "merges in each": 3,
		"numbers": 1 << 12, "queries after each": 100, "keys of a unit": 200, "lists": 3, "units to ask": 500,
	}
	for _, x := range Experiments() {
		params := append(lab.Params(nil), x.Quick...)
		for i, p := range params {
			if n, ok := brief[p.Name]; ok {
				params[i] = lab.Int(p.Name, n)
			}
			if p.Name == "sizes" {
				params[i] = lab.Ints(p.Name, 100, 3_000)
			}
		}
		if _, err := x.Do(t.Context(), &lab.Env{Params: params, Seed: 1, Workers: 3}); err != nil {
			t.Error(err)
		}
	}
}

func TestExperimentsStopWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range Experiments() {
		if _, err := x.Do(ctx, &lab.Env{Params: x.Quick}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", x.ID, err)
		}
	}
}
