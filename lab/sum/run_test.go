package sum

import (
	"testing"

	"github.com/everbloom-go/everbloom/lab/labtest"
)

// known lists the checks that differ from what the paper says, for a reason that
// the check tells.
var known = map[string][]string{
	"sum/deletion": {"errors of the second filter, P = 0.01, half deleted", "errors of the second filter, P = 0.001, half deleted"},
}

func TestQuickRunsGiveTheExpectedVerdicts(t *testing.T) {
	labtest.Verdicts(t, Experiments(), known)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }
