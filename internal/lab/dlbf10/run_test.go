package dlbf10

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func TestClaims(t *testing.T) { labtest.Claims(t, Experiments()) }

// brief are parameters for runs that take little time.
var brief = lab.Params{lab.Int("trials", 4), lab.Floats("turnovers", 0, 1.5)}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) { labtest.Seeded(t, Experiments(), brief) }

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

// The trial counts of full runs are those of the paper where it states them.
func TestFullRunsHaveThePapersCounts(t *testing.T) {
	e := lab.Env{Params: fig3.Full}
	if e.Int("trials") != 2_000 || e.Int("bits") != 240 || e.Int("hashes") != 5 || e.Int("tested words") != 500 {
		t.Errorf("%v", fig3.Full)
	}
}
