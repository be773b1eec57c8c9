package ebf21

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

// seed of all runs here.
const seed = 1

func TestClaims(t *testing.T) { labtest.Claims(t, Experiments()) }

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("trials", 2), lab.Int("rounds", 1), lab.Int("queries", 500), lab.Int("keys, log2", 9), lab.Int("points per doubling", 2), lab.Int("doublings", 3),
	lab.Int("initial size, log2", 11), lab.Ints("sizes, log2", 12, 15), lab.Ints("slots", 4, 8), lab.Ints("branches", 1, 3),
	lab.Floats("peaks", 1, 4), lab.Ints("queries of each sort", 2, 32), lab.Ints("entries", 200, 2_000),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{uses, operations, formulas, expansions, fig3, fig9}, brief)
}
