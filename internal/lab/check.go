package lab

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Verdict is what a check found.
type Verdict string

// The verdicts.
const (
	Reproduced Verdict = "reproduced"
	Differs    Verdict = "differs"
	Shown      Verdict = "shown" // nothing is printed to compare with
)

// Check is what came of a [Claim]: what is printed, ours, and the verdict.
type Check struct {
	Kind      Kind    `json:"kind,omitempty"` // Paper if empty
	Name      string  `json:"name"`
	Printed   string  `json:"printed,omitempty"` // what the paper prints, and where
	Ours      string  `json:"ours"`
	Tolerance string  `json:"tolerance,omitempty"` // which values would agree, and how that was derived
	Verdict   Verdict `json:"verdict"`
	Reason    string  `json:"reason,omitempty"` // why it differs

	// Known says that the difference was there before and is explained. A strict
	// run fails for the others.
	Known bool `json:"known,omitempty"`
}

// unexplained is the reason of a difference that was not expected.
const unexplained = "not explained: this check is expected to reproduce"

// Unexpected reports whether the check differs without an explanation, or is said to
// be an error in print and reproduces.
func (c Check) Unexpected() bool {
	return c.Verdict == Differs && !c.Known || c.Kind == Erratum && c.Verdict == Reproduced
}

func (c Check) check() error {
	var problems []error
	add := func(bad bool, text string) {
		if bad {
			problems = append(problems, fmt.Errorf("check %q: %s", c.Name, text))
		}
	}
	add(c.Name == "", "no name")
	add(c.Ours == "", "nothing of ours")
	switch c.Verdict {
	case Reproduced:
		add(c.Printed == "" || c.Tolerance == "", "reproduced, but nothing printed or no tolerance")
		add(c.Reason != "", "reproduced, with a reason why it differs")
	case Differs:
		add(c.Printed == "", "differs from nothing")
		add(strings.TrimSpace(c.Reason) == "", "differs without a reason")
	case Shown:
	default:
		add(true, fmt.Sprintf("unknown verdict %q", c.Verdict))
	}
	return errors.Join(problems...)
}

// near allows for the decimal fractions that binary ones miss, and for sums of
// equal numbers, whose mean is off by a bit although they have no spread.
func near(ours, value, reach float64) bool {
	return math.Abs(ours-value) <= reach+1e-9*max(reach, math.Abs(ours)/1000)
}

// Sigmas is how many standard errors a measured value may be off: one in 15,000
// honest ones is further. With few trials or few yeses as many are.
const Sigmas = 4

// exact compares a computed number with a printed one, such as "0.001463", "5.62e-17"
// or "80 %", which is 0.8: it must round to the printed digits.
func exact(printed string, ours float64) judgement {
	p, err := parsePrinted(printed)
	return judgement{verdict(err == nil && near(ours, p.value, p.half)), p.write(ours, p.half), p.around(p.half) + ": the digits printed"}
}

// sampled compares the mean of our trials with a printed number that was itself
// measured, in so many trials: their spread is taken to be that of ours. With 0 it is
// exact but for its digits.
func sampled(printed string, ours Estimate, trials int) judgement {
	p, err := parsePrinted(printed)
	reach, how := ours.Reach(Sigmas), fmt.Sprintf("our %d trials", ours.N)
	if trials > 0 {
		reach *= math.Sqrt(1 + float64(ours.N)/float64(trials))
		how += fmt.Sprintf(" and the paper's %d", trials)
	}
	reach += p.half
	return judgement{
		verdict(err == nil && ours.N > 0 && near(ours.Mean, p.value, reach)), p.writeEstimate(ours),
		fmt.Sprintf("%s: %d standard errors, by Student's t, of %s, and the digits printed", p.around(reach), Sigmas, how),
	}
}
