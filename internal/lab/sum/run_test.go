package sum

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func TestClaims(t *testing.T) { labtest.Claims(t, Experiments()) }

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("trials", 3), lab.Int("queries", 500), lab.Int("keys", 300), lab.Ints("keys", 500, 2_000), lab.Int("rounds", 1), lab.Ints("hashes", 7, 10), lab.Ints("users", 100, 200),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{deletion, metflicks}, brief)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }
