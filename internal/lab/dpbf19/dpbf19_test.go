package dpbf19

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

// differing has the checks that are known to differ, by experiment.
var differing = map[string][]string{
	"dpbf19/space":   {"uBFs of the CPBPT: at most s, one for each leaf as in Def. 2.4", "paper's layout, times the list, made-up ids: spread evenly"},
	"dpbf19/theorem": {"f_t = 0.0001: units of the lists", "f_t = 0.01: units of the lists", "proof, last line"},
}

func TestVerdictsAreAsKnown(t *testing.T) { labtest.Verdicts(t, Experiments(), differing) }

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("sets", 3), lab.Int("queries", 500), lab.Int("units of a list to ask", 500), lab.Int("rounds", 2), lab.Int("microseconds a turn", 10),
	lab.Int("chains", 3), lab.Int("merges in each", 3), lab.Int("numbers", 1<<12), lab.Int("queries after each", 100), lab.Int("keys of a unit", 200),
	lab.Int("lists", 3), lab.Int("units to ask", 500), lab.Ints("sizes", 100, 3_000),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{fig1, fig345, space, merges, theorem}, brief)
}

func TestExperimentsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }
