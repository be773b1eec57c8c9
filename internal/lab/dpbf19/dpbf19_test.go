package dpbf19

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func TestClaims(t *testing.T) { labtest.Claims(t, Experiments()) }

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("sets", 2), lab.Int("queries", 500), lab.Int("units of a list to ask", 500), lab.Int("rounds", 2), lab.Int("points per doubling", 1),
	lab.Int("chains", 3), lab.Int("merges in each", 10), lab.Int("id bits", 15), lab.Int("queries after each", 100), lab.Int("keys of a unit", 200),
	lab.Int("lists", 3), lab.Int("units to ask", 500), lab.Ints("sizes", 1_000, 10_000, 100_000),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{fig1, fig345, space, theorem}, brief)
}

func TestExperimentsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }
