package inpacket

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

// known lists the checks that differ from what the paper says, for a reason that
// the check tells.
var known = map[string][]string{
	"inpacket/loops":  {"circles, at any size, hubs", "circles, at any size, ring"},
	"inpacket/chains": {"services skipped with deletion"},
}

func TestQuickRunsGiveTheExpectedVerdicts(t *testing.T) {
	labtest.Verdicts(t, Experiments(), known)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }
