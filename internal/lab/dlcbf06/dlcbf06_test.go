package dlcbf06

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func TestClaims(t *testing.T) { labtest.Claims(t, Experiments()) }

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("trials", 2), lab.Int("trials with 53,428 elements", 2), lab.Int("further trials", 2), lab.Int("steps", 200), lab.Int("further steps", 200), lab.Int("queries", 100),
	lab.Int("steps between looks", 50), lab.Int("keys", 2_400), lab.Ints("cells", 2, 3),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) { labtest.Seeded(t, Experiments(), brief) }

func TestExperimentsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }
