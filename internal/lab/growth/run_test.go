package growth

import (
	"math"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

func TestClaimsHold(t *testing.T) { labtest.Claims(t, Experiments()) }

// brief are parameters for runs that take little time.
var brief = lab.Params{
	lab.Int("most keys", 200_000), lab.Int("sizes", 7), lab.Int("queries", 1_000), lab.Int("keys", 8_000),
	lab.Int("lasting keys", 2_000), lab.Int("passing keys", 15_000), lab.Int("rounds", 2),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{size, asked, perennialSize, all}, brief)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

// Averages are over whole doublings from 20,000 keys on, on the way there; what is said
// of the way back ends at a hundredth.
func TestStagesTellDoublingsAndTheHundredth(t *testing.T) {
	var looks []walk.Look
	for _, n := range walk.Sizes(5_000, 80_000, 31) {
		looks = append(looks, walk.Look{Keys: n, Fast: float64(n), Slow: 1, Most: 16})
	}
	list, sum, n := stages(looks, 0.01, false), 0.0, 0.0
	for _, l := range looks {
		if l.Keys > 20_000 {
			sum, n = sum+l.Fast, n+1
		}
	}
	if end := list[30]; math.Abs(end.meanFast-sum/n) > 1e-6 || math.Abs(end.meanAll-sum/n-1) > 1e-6 || list[29].meanFast > 0 || end.hundredth > 0 {
		t.Errorf("%+v, want a mean of %v", list[29:], sum/n)
	}
	list = stages(looks, 0.01, true)
	if list[30].meanFast > 0 || list[30].hundredth != 16 || list[8].hundredth != 16 || list[7].hundredth > 0 {
		t.Errorf("%+v", list)
	}
}

func TestTheSlowestAreKept(t *testing.T) {
	var list times
	for i := range 300_000 {
		list.add(time.Duration(i*7919%300_000) * time.Microsecond)
	}
	if got := list.oneIn(100_000); got != 299_996 {
		t.Errorf("%v, want 299996: three operations are slower", got)
	}
	if got := list.oneIn(10); !math.IsNaN(got) {
		t.Errorf("%v is the time of none that was kept", got)
	}
}
