package dlcbf06

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/filtertest"
	"github.com/everbloom-go/everbloom/lab"
	"github.com/everbloom-go/everbloom/lab/labtest"
)

// differing has the checks that are known to differ in quick runs, by experiment.
var differing = map[string][]string{
	"dlcbf06/worked":   {"Sec. 4: ratio at r = 14, c = 16/3", "Sec. 5.1: odds that five elements share a hash value"},
	"dlcbf06/table1":   {"trials outside the printed range of rates"},
	"dlcbf06/cbf":      {"overflow of counters in both filters", "trials outside the printed range of rates"},
	"dlcbf06/overflow": {"elements at a load of 6.5", "the same at 53,428 elements"},
}

func TestVerdictsAreAsKnown(t *testing.T) {
	if filtertest.UnderRace {
		t.Skip("see TestTrialsDoNotRace")
	}
	labtest.Verdicts(t, Experiments(), differing)
}

// TestTrialsDoNotRace runs everything as briefly as it can be run.
func TestTrialsDoNotRace(t *testing.T) {
	brief := map[string]int{"trials": 2, "trials with 53,428 elements": 2, "further trials": 2, "steps": 200, "queries": 100, "steps between looks": 50, "keys": 2_400}
	for _, x := range Experiments() {
		params := append(lab.Params(nil), x.Quick...)
		for i, p := range params {
			if n, ok := brief[p.Name]; ok {
				params[i] = lab.Int(p.Name, n)
			}
			if p.Name == "cells" {
				params[i] = lab.Ints(p.Name, 2)
			}
		}
		if _, err := x.Do(t.Context(), &lab.Env{Params: params, Seed: 1, Workers: 3}); err != nil {
			t.Error(err)
		}
	}
}

func TestExperimentsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

// verdicts returns those of the checks by name.
func verdicts(checks []lab.Check) map[string]lab.Verdict {
	out := map[string]lab.Verdict{}
	for _, c := range checks {
		out[c.Name] = c.Verdict
	}
	return out
}

// want fails unless a check has the verdict.
func want(t *testing.T, checks []lab.Check, name string, verdict lab.Verdict) {
	t.Helper()
	if got := verdicts(checks)[name]; got != verdict {
		t.Errorf("%q: %q, want %q", name, got, verdict)
	}
}
