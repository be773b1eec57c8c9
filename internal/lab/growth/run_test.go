package growth

import (
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

func TestClaimsHold(t *testing.T) { labtest.Claims(t, Experiments()) }

// brief are parameters for runs that take little time. The rate is low, so that a
// compact filter is soon full.
var brief = lab.Params{
	lab.Int("most keys", 60_000), lab.Int("sizes", 7), lab.Int("queries", 1_000), lab.Int("keys", 8_000), lab.Int("operations", 30_000), lab.Int("swing", 100),
	lab.Int("lasting keys", 2_000), lab.Int("passing keys", 15_000), lab.Float("rate", 0.0001), lab.Int("rounds", 2),
}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{size, shrink, asked, compact, perennialSize, perennialShrink, churn}, brief)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

// Averages are over whole doublings from 20,000 keys on, ranges over the last one.
func TestStagesTellTheLastDoubling(t *testing.T) {
	var looks []walk.Look
	for _, n := range walk.Sizes(10_000, 80_000, 31) {
		looks = append(looks, walk.Look{Keys: n, Fast: float64(n), Slow: 1})
	}
	list := stages(looks, 0.01)
	if list[20].last != 0 || list[21].last != 1 || list[29].meanFast > 0 {
		t.Errorf("%+v", list[19:])
	}
	sum := 0.0
	for _, l := range looks[11:] {
		sum += l.Fast / 20
	}
	if end := list[30]; end.meanFast != sum || end.meanAll < sum+0.99 {
		t.Errorf("%v and %v, want %v and 1 more", end.meanFast, end.meanAll, sum)
	}
}

func TestBlocksOutOfBoundsAreNoticed(t *testing.T) {
	s, err := evergreen.Config{FPR: 0.01}.Shape()
	if err != nil {
		t.Fatal(err)
	}
	good := evergreen.Blocks(1e6, 0.009, s.Hashes/8)
	for factor, want := range map[float64]float64{1: 0, 0.8: 1, 1.3: 1} {
		if got := outOfBounds(s, 1e6, factor*good); got != want {
			t.Errorf("%v times the blocks: %v", factor, got)
		}
	}
}

// A filter that had other keys before must answer like one that never had them, and one
// with a key more must not.
func TestAgainNoticesWhatIsLeft(t *testing.T) {
	f, err := evergreen.New(evergreen.Config{FPR: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	w := &walk.Walker{F: f, Keys: walk.NewKeys((&lab.Env{Seed: 1}).Rand(0))}
	for _, n := range []int{30_000, 20_000} {
		if err := w.To(n); err != nil {
			t.Fatal(err)
		}
	}
	if share, err := again(w, 20_000); err != nil || share != 0 {
		t.Errorf("%v, %v", share, err)
	}
	for i := range 2_000 {
		if _, err := f.Add(w.Keys.Stranger(-1 - i)); err != nil {
			t.Fatal(err)
		}
	}
	if share, err := again(w, 20_000); err != nil || share == 0 {
		t.Errorf("%v, %v: keys that are left make no difference", share, err)
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
