package sum

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

// known lists the checks that differ from what the paper says, for a reason that
// the check tells.
var known = map[string][]string{
	"sum/deletion": {"errors of the second filter, P = 0.01, half deleted", "errors of the second filter, P = 0.001, half deleted"},
}

func TestQuickRunsGiveTheExpectedVerdicts(t *testing.T) {
	labtest.Verdicts(t, Experiments(), known)
}

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("trials", 3), lab.Int("queries", 500), lab.Int("keys", 300), lab.Ints("keys", 500, 2_000), lab.Int("rounds", 1), lab.Int("most hashes", 8),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{params, deletion}, brief)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }
