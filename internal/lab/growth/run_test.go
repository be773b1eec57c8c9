package growth

import (
	"math"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

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
	if end := list[30]; math.Abs(end["mean fast bits"]-sum/n) > 1e-6 || math.Abs(end["mean bits"]-sum/n-1) > 1e-6 || list[29]["mean fast bits"] > 0 || end["most bits, back to a hundredth"] > 0 {
		t.Errorf("%+v, want a mean of %v", list[29:], sum/n)
	}
	list = stages(looks, 0.01, true)
	if list[30]["mean fast bits"] > 0 || list[30]["most bits, back to a hundredth"] != 16 || list[8]["most bits, back to a hundredth"] != 16 || list[7]["most bits, back to a hundredth"] > 0 {
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

// forgetful denies every key from a number of queries on.
type forgetful struct {
	filter.Deleter
	left int
}

func (f *forgetful) MayContain(k filter.Key) bool {
	f.left--
	return f.left >= 0 && f.Deleter.MayContain(k)
}

func TestReadersNoticeWhatIsLost(t *testing.T) {
	f, size, err := grower(evergreenName, 1, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{met: &met{}, f: &forgetful{f, 300}, size: size, keys: walk.NewKeys((&lab.Env{Seed: 1}).Rand(0)), lasting: 100, passing: 50, done: make(chan error, 1)}
	if err := p.fill(); err != nil {
		t.Fatal(err)
	}
	if p.ask(310); p.asked != 310 || p.denied != 10 {
		t.Errorf("%+v", *p.met)
	}
	go func() { p.done <- p.write() }()
	if err := p.end(); err != nil {
		t.Error(err)
	}
}
