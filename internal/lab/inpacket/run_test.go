package inpacket

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func TestClaims(t *testing.T) { labtest.Claims(t, Experiments()) }

// brief are parameters for runs that take little time.
var brief = lab.Params{lab.Int("trials", 3), lab.Int("nodes", 300), lab.Ints("links", 20, 24, 28), lab.Ints("lengths", 1, 4)}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) { labtest.Seeded(t, Experiments(), brief) }

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }
