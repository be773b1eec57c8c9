package dpbf19

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/filtertest"
	"github.com/everbloom-go/everbloom/lab"
	"github.com/everbloom-go/everbloom/lab/labtest"
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
	labtest.Verdicts(t, Experiments(), differing)
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

func TestExperimentsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }
