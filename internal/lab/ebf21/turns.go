package ebf21

import (
	"fmt"
	"strings"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/timing"
)

type (
	lap    = timing.Lap
	turns  = timing.Turns
	rounds = timing.Rounds
)

// mops is the speed as the paper has it, in millions of operations per second.
func mops(r rounds, contender, work string) float64 {
	return 1000 / max(r.Nanos(contender, work), 1e-9)
}

// timed is the note of experiments that measure times.
const timed = "This is a timing. The contenders take turns on one machine and are compared with each other; medians of the rounds. Another machine may give other ratios, and a busy one turns those near 1. Measured: "

// A speedCheck is a claim about which is faster.
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
