package evergreen

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// A set that forgets must be found out.
func TestDuetSeesADeniedKey(t *testing.T) {
	forgetful := shared{
		name: "forgetful",
		add:  func(filter.Key) error { return nil },
		del:  func(filter.Key) error { return nil },
		has:  func(k filter.Key) bool { return k%1000 != 0 },
		size: func() uint64 { return 1 }, steps: enoughSteps,
	}
	var d duet
	params := lab.Params{lab.Int("lasting keys", 10_000), lab.Int("passing keys", 10), lab.Int("queries", 10_000)}
	if err := d.play(forgetful, newKeys((&lab.Env{Seed: 1}).Rand(0)), &lab.Env{Params: params}); err != nil {
		t.Fatal(err)
	}
	checks := duetChecks([]duet{d})
	if d.denied == 0 || checks[0].Verdict != lab.Differs {
		t.Errorf("%+v", checks[0])
	}
	if last := checks[len(checks)-1]; last.Verdict != lab.Differs {
		t.Errorf("nothing was split: %+v", last)
	}
}

// The reader goes on until the writer has done something, however many processors
// there are, and does not mind a set that never changes its size.
func TestReaderMeetsTheWriter(t *testing.T) {
	params := lab.Params{lab.Int("lasting keys", 20_000), lab.Int("passing keys", 20_000), lab.Int("queries", 1)}
	sets, err := sharedSets(40_000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sets {
		var d duet
		k := newKeys((&lab.Env{Seed: 1}).Rand(0))
		for i := range 20_000 {
			if err := s.add(k.member(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.play(s, k, &lab.Env{Params: params}); err != nil {
			t.Fatal(err)
		}
		if d.writes < enoughWrites || d.steps < s.steps || d.starved || d.denied > 0 {
			t.Errorf("%s: %+v", s.name, d)
		}
	}
}

func TestNothingIsClaimedWithoutAWriter(t *testing.T) {
	d := duet{asked: 100, starved: true}
	if d.lasting().Verdict != lab.Shown || d.met().Verdict != lab.Shown {
		t.Errorf("%+v, %+v", d.lasting(), d.met())
	}
	d.denied = 1
	if d.lasting().Verdict != lab.Differs {
		t.Errorf("denied by itself: %+v", d.lasting())
	}
	d = duet{asked: 100, writes: 10, steps: 1, starved: true}
	if d.lasting().Verdict != lab.Reproduced || d.met().Verdict != lab.Reproduced {
		t.Errorf("%+v, %+v", d.lasting(), d.met())
	}
}

func TestPaceOfADuet(t *testing.T) {
	d := duet{alone: []float64{3, 1, 2, 2}, beside: []float64{4, 4, 4}, aloneCPU: []float64{1}, ownCPU: []float64{2}}
	if wall, cpu := d.pace(); wall != 0.5 || cpu != 0.5 {
		t.Errorf("%v, %v", wall, cpu)
	}
}

// TestWritersLeaveNothingBehind stops a writer on its way.
func TestWritersLeaveNothingBehind(t *testing.T) {
	sets, err := sharedSets(2000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	k := testKeys()
	for _, s := range sets {
		var stop atomic.Bool
		var done tally
		adds := 0
		counted := s
		counted.add = func(key filter.Key) error {
			if adds++; adds == 700 {
				stop.Store(true)
			}
			return s.add(key)
		}
		if err := done.churn(counted, k, 100, 500, &stop); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if adds != 700 || done.writes.Load() != 1400 {
			t.Errorf("%s: %d adds, %d writes", s.name, adds, done.writes.Load())
		}
		left := 0
		for i := range 500 {
			if s.has(k.member(100 + i)) {
				left++
			}
		}
		if left > 50 { // by chance
			t.Errorf("%s: %d of 500 keys are left", s.name, left)
		}
	}
}

func TestErrorsOfWritersArePassedOn(t *testing.T) {
	broken := errors.New("broken")
	fails := func(filter.Key) error { return broken }
	works := func(filter.Key) error { return nil }
	for name, s := range map[string]shared{"add": {add: fails, del: works}, "delete": {add: works, del: fails}} {
		s.size = func() uint64 { return 0 }
		var stop atomic.Bool
		if err := new(tally).churn(s, testKeys(), 10, 10, &stop); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
