package lab

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// Verdict is what a check found.
type Verdict string

// The verdicts.
const (
	Reproduced Verdict = "reproduced"
	Differs    Verdict = "differs"
	Shown      Verdict = "shown" // nothing is printed to compare with
)

// Check compares one printed number or claim with ours. Make it with [Exact],
// [Measured], [Sampled], [Rate], [Predicted], [PredictedRate], [Holds] or [Show],
// which compute the verdict.
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

	// Timing says that times are compared. See Timed.
	Timing bool `json:"timing,omitempty"`
}

// unexplained is the reason of a difference that was not expected.
const unexplained = "not explained: this check is expected to reproduce"

// Because gives the reason why a check is known to differ. It changes nothing if
// the check reproduces.
func (c Check) Because(reason string) Check {
	if c.Verdict == Differs {
		c.Reason, c.Known = reason, true
	}
	return c
}

// Timed marks a check that compares times. They depend on the machine and on what
// else it does, so a strict run does not fail for them.
func (c Check) Timed() Check {
	c.Timing = true
	if c.Unexpected() {
		c.Reason, c.Known = notConfirmed, true
	}
	return c
}

// notConfirmed is the reason of a timing that came out otherwise.
const notConfirmed = "a timing, which this run does not confirm: repeat it on a quiet machine"

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

// judged sets the verdict.
func judged(c Check, ok bool) Check {
	c.Verdict = Reproduced
	if !ok {
		c.Verdict, c.Reason = Differs, unexplained
	}
	return c
}

// near allows for the decimal fractions that binary ones miss, and for sums of
// equal numbers, whose mean is off by a bit although they have no spread.
func near(ours, value, reach float64) bool {
	return math.Abs(ours-value) <= reach+1e-9*max(reach, math.Abs(ours)/1000)
}

// Sigmas is how many standard errors a measured value may be off: one in 15,000
// honest ones is further. With few trials or few yeses as many are.
const Sigmas = 4

// Exact compares a computed number with a printed one, such as "0.001463",
// "5.62e-17" or "80 %", which is 0.8: it must round to the printed digits.
func Exact(name, printed string, ours float64) Check {
	p, err := parsePrinted(printed)
	c := Check{
		Name: name, Printed: printed, Ours: p.write(ours, p.half),
		Tolerance: p.around(p.half) + ": the digits printed",
	}
	return judged(c, err == nil && near(ours, p.value, p.half))
}

// Measured compares the mean of our trials with a printed number that is exact
// but for its digits.
func Measured(name, printed string, ours Estimate) Check {
	return Sampled(name, printed, ours, 0)
}

// Sampled is [Measured] for a printed number that was itself measured, in so many
// trials: their spread is taken to be that of ours. With 0 it is exact.
func Sampled(name, printed string, ours Estimate, trials int) Check {
	p, err := parsePrinted(printed)
	reach, how := ours.Reach(Sigmas), fmt.Sprintf("our %d trials", ours.N)
	if trials > 0 {
		reach *= math.Sqrt(1 + float64(ours.N)/float64(trials))
		how += fmt.Sprintf(" and the paper's %d", trials)
	}
	reach += p.half
	c := Check{
		Name: name, Printed: printed, Ours: p.writeEstimate(ours),
		Tolerance: fmt.Sprintf("%s: %d standard errors, by Student's t, of %s, and the digits printed", p.around(reach), Sigmas, how),
	}
	return judged(c, err == nil && ours.N > 0 && near(ours.Mean, p.value, reach))
}

// Rate compares yes answers among n independent questions with a printed
// probability.
func Rate(name, printed string, yes, n int) Check {
	p, err := parsePrinted(printed)
	lo, _ := theory.BinomialInterval(float64(n), max(0, p.value-p.half), Sigmas)
	_, hi := theory.BinomialInterval(float64(n), min(1, p.value+p.half), Sigmas)
	share := float64(yes) / float64(max(n, 1))
	c := Check{
		Name: name, Printed: printed, Ours: fmt.Sprintf("%d of %d: %s", yes, n, p.write(share, share/100)),
		Tolerance: fmt.Sprintf("%.0f to %.0f: %d standard deviations of the binomial distribution, and the digits printed", lo, hi, Sigmas),
	}
	return judged(c, err == nil && n > 0 && lo <= float64(yes) && float64(yes) <= hi)
}

// Predicted compares the mean of our trials with what a formula gives; the
// formula is named in words or symbols.
func Predicted(name, formula string, value float64, ours Estimate) Check {
	reach := ours.Reach(Sigmas)
	c := Check{
		Name: name, Printed: formula + ": " + Digits(value, 5), Ours: ours.String(),
		Tolerance: fmt.Sprintf("%s: %d standard errors, by Student's t, of our %d trials", printedNumber{value: value}.around(reach), Sigmas, ours.N),
	}
	return judged(c, ours.N > 0 && near(ours.Mean, value, reach))
}

// PredictedRate compares yes answers among n independent questions with the
// probability that a formula gives.
func PredictedRate(name, formula string, p float64, yes, n int) Check {
	c := Rate(name, number(p), yes, n)
	c.Printed = formula + ": " + Digits(p, 5)
	return c
}

// Holds is a claim that is true or not, such as "the rate never exceeds 1 %"; how
// tells what was tested.
func Holds(name, claim, ours string, ok bool, how string) Check {
	return judged(Check{Name: name, Printed: claim, Ours: ours, Tolerance: how}, ok)
}

// Show is a number that no paper prints.
func Show(name, ours string) Check { return Check{Name: name, Ours: ours, Verdict: Shown} }
