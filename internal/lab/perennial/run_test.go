package perennial

import (
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func TestClaimsHold(t *testing.T) { labtest.Claims(t, Experiments()) }

var brief = lab.Params{
	lab.Int("most keys", 30_000), lab.Int("sizes", 5), lab.Int("queries", 1_000), lab.Int("operations", 30_000), lab.Int("swing", 100), lab.Int("keys", 5_000),
	lab.Int("lasting keys", 2_000), lab.Int("passing keys", 3_000), lab.Int("rounds", 2),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{size, shrink, churn}, brief)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

func TestTheSlowestAreKept(t *testing.T) {
	var p pause
	for i := range 300_000 {
		p.add(1, time.Duration(i*7919%300_000))
	}
	if got := p.oneIn(100_000); got != 299_996 {
		t.Errorf("%d, want 299996: three operations are slower", got)
	}
}

// A swing must notice keys that are lost behind its back.
func TestSwingsNoticeLostKeys(t *testing.T) {
	f, err := perennial.New(perennial.Config{FPR: 0.001})
	if err != nil {
		t.Fatal(err)
	}
	var s swing
	r := (&lab.Env{Seed: 1}).Rand(0)
	for range 1_000 {
		if err := s.add(f, r); err != nil {
			t.Fatal(err)
		}
	}
	s.turn(f, r)
	if s.lost != 0 || s.asked != 1_000 {
		t.Errorf("%+v", s)
	}
	s.present = append(s.present, filter.Key(1), filter.Key(2), filter.Key(3))
	s.turn(f, r)
	if s.lost == 0 {
		t.Error("three keys that were never added are all there")
	}
}
