package evergreen

import (
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/lab"
)

// A set that forgets must be found out.
func TestDuetSeesADeniedKey(t *testing.T) {
	forgetful := shared{
		name: "forgetful",
		add:  func(filter.Key) error { return nil },
		del:  func(filter.Key) error { return nil },
		has:  func(k filter.Key) bool { return k%1000 != 0 },
		size: func() uint64 { return 1 },
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

func TestPaceOfADuet(t *testing.T) {
	d := duet{
		alone: []time.Duration{3, 1, 2}, beside: []time.Duration{4, 4, 4},
		aloneCPU: []time.Duration{time.Second}, ownCPU: []time.Duration{2 * time.Second},
	}
	if _, cpu := d.pace(); median(d.alone) != 2 || cpu != 0.5 {
		t.Errorf("%v, %v", median(d.alone), cpu)
	}
}
