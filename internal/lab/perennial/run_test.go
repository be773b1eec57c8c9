package perennial

import (
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func TestQuickRunsGiveTheExpectedVerdicts(t *testing.T) { labtest.Verdicts(t, Experiments(), nil) }

var brief = lab.Params{
	lab.Int("most keys", 30_000), lab.Int("sizes", 3), lab.Int("queries", 1_000),
	lab.Int("operations", 30_000), lab.Int("swing", 100), lab.Int("keys", 5_000),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{size, shrink, churn}, brief)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

func TestChecksSeeWhatIsWrong(t *testing.T) {
	good := []look{{keys: 20_000, found: 100, asked: 10_000, bits: 16, says: 0.009}}
	for _, c := range []struct {
		name  string
		check func([]look) lab.Check
		spoil func(*look)
	}{
		{"a rate", func(l []look) lab.Check { return kept("", 0.01, l) }, func(l *look) { l.found = 200 }},
		{"a rate by Info", func(l []look) lab.Check { return kept("", 0.01, l) }, func(l *look) { l.says = 0.011 }},
		{"a lost key", func(l []look) lab.Check { return noneLost("", l) }, func(l *look) { l.lost = 1 }},
		{"memory", func(l []look) lab.Check { return sized("", 1, 16.9, 16.4, l) }, func(l *look) { l.bits = 17 }},
		{"memory on average", func(l []look) lab.Check { return sized("", 1, 16.9, 16.4, l) }, func(l *look) { l.bits = 16.5 }},
	} {
		if got := c.check(good); got.Verdict != lab.Reproduced {
			t.Errorf("%s: %+v", c.name, got)
		}
		bad := []look{good[0]}
		c.spoil(&bad[0])
		if got := c.check(bad); got.Verdict != lab.Differs {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestQuantileIsAmongTheSlowest(t *testing.T) {
	var p pause
	for i := range 300_000 {
		p.add(1, time.Duration(i*7919%300_000))
	}
	if got := p.quantile(100_000); got != 299_996 {
		t.Errorf("%d, want 299996: three operations are slower", got)
	}
}
