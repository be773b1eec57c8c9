package ebf21

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/clock"
)

// A lap is the time that one contender took for one sort of work.
type lap struct{ who, work string }

// turns times contenders that take turns at short strides, so that they see the
// same machine, whatever else it does.
type turns struct {
	clock clock.Clock
	took  map[lap]time.Duration
	ops   map[lap]int
	shift int // who begins changes from stride to stride
}

// newTurns times what one thread does.
func newTurns() *turns {
	return &turns{clock: clock.Thread, took: map[lap]time.Duration{}, ops: map[lap]int{}}
}

// newWallTurns times what several threads do together.
func newWallTurns() *turns {
	t := newTurns()
	t.clock = clock.Wall
	return t
}

// stride lets every contender do the same operations.
func (t *turns) stride(work string, who []string, ops int, run func(i int)) {
	runtime.LockOSThread() // whose clock it may be
	defer runtime.UnlockOSThread()
	t.shift++
	for j := range who {
		i := (j + t.shift) % len(who)
		at := lap{who[i], work}
		start := t.clock()
		run(i)
		t.took[at] += t.clock() - start
		t.ops[at] += ops
	}
}

// nanos is the mean time of an operation, pauses included.
func (t *turns) nanos(at lap) float64 {
	return float64(t.took[at].Nanoseconds()) / float64(max(t.ops[at], 1))
}

// rounds collects the times of an operation in ns, one for each round.
type rounds map[lap][]float64

func (r rounds) add(t *turns) {
	for at := range t.took {
		r[at] = append(r[at], t.nanos(at))
	}
}

// nanos is the median over the rounds.
func (r rounds) nanos(who, work string) float64 { return lab.Median(r[lap{who, work}]) }

// mops is the same as the paper has it, in millions of operations per second.
func (r rounds) mops(who, work string) float64 { return 1000 / max(r.nanos(who, work), 1e-9) }

// times is how often as fast as another a contender is, in the median round: both
// of one round saw the same machine.
func (r rounds) times(who, other, work string) float64 {
	a, b := r[lap{who, work}], r[lap{other, work}]
	ratios := make([]float64, min(len(a), len(b)))
	for i := range ratios {
		ratios[i] = b[i] / max(a[i], 1e-9)
	}
	return lab.Median(ratios)
}

// timed is the note of experiments that measure times.
const timed = "This is a timing. The contenders take turns on one machine and are compared with each other; medians of the rounds. Another machine may give other ratios, and a busy one turns those near 1. Measured: "

// A speedCheck is a claim about who is faster.
type speedCheck struct {
	name, claim string
	at          []float64 // relative peak data sizes, or the like
	times       []float64 // how often as fast the first is there
	slower      bool      // the claim is that the first is slower

	// reason explains ratios on the wrong side of 1 that are at most reach away from
	// it, as a factor. What is farther is not explained by it.
	reason string
	reach  float64
}

// explained tells whether the reason is good for all ratios.
func (c speedCheck) explained() bool {
	for _, times := range c.times {
		if !c.slower {
			times = 1 / max(times, 1e-9)
		}
		if times > c.reach {
			return false
		}
	}
	return c.reason != ""
}

// check judges the direction at every size and shows the ratios.
func (c speedCheck) check() lab.Check {
	ok, shown := len(c.times) > 0, make([]string, len(c.times))
	for i, times := range c.times {
		ok = ok && (times > 1) != c.slower
		shown[i] = fmt.Sprintf("%s (%v)", lab.Digits(times, 2), c.at[i])
	}
	how := "faster at every size shown: medians of ratios above 1"
	if c.slower {
		how = "slower at every size shown: medians of ratios below 1"
	}
	ours := "times as fast: " + strings.Join(shown, ", ")
	if len(c.times) == 0 {
		return lab.Show(c.name, "no such size in this run")
	}
	check := lab.Holds(c.name, c.claim, ours, ok, how+"; a timing")
	if c.explained() {
		check = check.Because(c.reason)
	}
	return check.Timed()
}
