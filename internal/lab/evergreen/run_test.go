package evergreen

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

// known lists the checks that differ from what is written, for a reason that the
// check tells. These do by less than a thousandth, and another seed may have others.
var known = map[string][]string{
	"evergreen/size": {
		"rate by the filter's own account, asked for 1 %, 32 bits",
		"rate by the filter's own account, asked for 0.1 %",
		"rate by the filter's own account, asked for 0.1 %, 32 bits",
	},
}

func TestQuickRunsGiveTheExpectedVerdicts(t *testing.T) { labtest.Verdicts(t, Experiments(), known) }

// brief are parameters for runs that take little time. The rate is low, so that a
// compact filter is soon full.
var brief = lab.Params{
	lab.Int("most keys", 20_000), lab.Int("sizes", 4), lab.Int("queries", 1_000), lab.Int("keys", 8_000), lab.Int("first keys", 2_000),
	lab.Int("lasting keys", 2_000), lab.Int("passing keys", 15_000), lab.Int("looks", 3), lab.Float("rate", 0.0001),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{size, shrink, asked, compact, replay}, brief)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }
