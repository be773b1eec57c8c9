package lab

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Kind is what a claim is about. Counts are kept per kind: a paper that has an error
// in print is another matter than one whose figure cannot be found again.
type Kind string

// The kinds.
const (
	Paper    Kind = "paper"    // what a paper prints: reproduced, or it differs
	Erratum  Kind = "erratum"  // arithmetic or logic in print that no run can change
	Own      Kind = "own"      // what this project states: it holds, or fails
	Question Kind = "question" // what a paper leaves open: answered
)

// Verdict is what a check found.
type Verdict string

// The verdicts.
const (
	Reproduced Verdict = "reproduced"
	Differs    Verdict = "differs"
	Shown      Verdict = "shown" // nothing is printed to compare with
)

// words are the outcomes of each kind.
var words = map[Kind]map[Verdict]string{
	Paper:    {Reproduced: "reproduced", Differs: "differs", Shown: "shown"},
	Erratum:  {Reproduced: "right after all", Differs: "erratum", Shown: "shown"},
	Own:      {Reproduced: "holds", Differs: "fails", Shown: "shown"},
	Question: {Reproduced: "answered", Differs: "fails", Shown: "answered"},
}

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

// Word is the verdict in the words of its kind.
func (c Check) Word() string { return words[cmp.Or(c.Kind, Paper)][c.Verdict] }

var plurals = map[string]string{"erratum": "errata", "differs": "differ", "holds": "hold", "fails": "fail"}

// Counted is so many outcomes in words: "1 differs", "2 differ".
func Counted(n int, word string) string {
	if n != 1 {
		word = cmp.Or(plurals[word], word)
	}
	return fmt.Sprintf("%d %s", n, word)
}

// Tally counts checks by outcome, in words: "4 reproduced, 2 differ, 2 answered".
func Tally(checks []Check) string {
	counts := map[string]int{}
	for _, c := range checks {
		counts[c.Word()]++
	}
	var parts []string
	for _, word := range []string{"reproduced", "differs", "erratum", "right after all", "holds", "fails", "answered", "shown"} {
		n := counts[word]
		if n > 0 {
			parts = append(parts, Counted(n, word))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no checks")
}

// judgement is what a [Test] found.
type judgement struct {
	verdict   Verdict
	ours      string
	tolerance string
}

func verdict(ok bool) Verdict {
	if ok {
		return Reproduced
	}
	return Differs
}

// printedNumber is a number as a paper prints it.
type printedNumber struct {
	value  float64
	half   float64 // half a unit of the last digit printed
	digits string  // what that comes from
	unit   Unit    // ours are written in percent, too
}

// parsePrinted reads a number such as "0.001463", "5.62e-17", "53,428" or "80 %",
// which is 0.8. Words after a space are not read.
func parsePrinted(text string) (printedNumber, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	word, percent := strings.CutSuffix(word, "%")
	word = strings.ReplaceAll(word, ",", "")
	value, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return printedNumber{}, fault.In("lab", "printed number %q: %w", text, err)
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(word), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	power, _ := strconv.Atoi(exponent) // ParseFloat has accepted it
	p := printedNumber{value, math.Pow(10, float64(power-len(fraction))) / 2, "the digits printed", Plain}
	if percent || strings.HasPrefix(rest, "%") {
		p.value, p.half, p.unit = p.value/100, p.half/100, InPercent
	}
	return p, nil
}

// compare compares ours with the printed number, which was itself measured in so many
// trials: their spread is taken to be that of ours. With 0 it is exact but for its
// digits. Where noise is more than half of the number, agreement says nothing.
func (p printedNumber) compare(ours Estimate, trials int) judgement {
	if ours.N == 0 {
		size := p.half
		if !p.near(ours.Mean, p.half) { // another number: four digits of it are enough
			size = max(size, math.Abs(ours.Mean)/200)
		}
		return judgement{verdict(p.near(ours.Mean, p.half)), p.unit.write(ours.Mean, size), p.around(p.half) + ": " + p.digits}
	}
	noise, how := ours.Reach(Sigmas), fmt.Sprintf("our %d trials", ours.N)
	if trials > 0 {
		noise *= math.Sqrt(1 + float64(ours.N)/float64(trials))
		how += fmt.Sprintf(" and the paper's %d", trials)
	}
	j := judgement{
		verdict(p.near(ours.Mean, noise+p.half)), p.unit.estimate(ours),
		fmt.Sprintf("%s: %d standard errors, by Student's t, of %s, and %s", p.around(noise+p.half), Sigmas, how, p.digits),
	}
	if j.verdict == Reproduced && noise > max(p.half, math.Abs(p.value)/2) {
		j.verdict, j.ours = Shown, j.ours+"; too few trials to tell"
	}
	return j
}

// around writes the interval of that reach around the printed number.
func (p printedNumber) around(reach float64) string {
	return p.unit.write(p.value-reach, reach) + " to " + p.unit.write(p.value+reach, reach)
}

// near allows for the decimal fractions that binary ones miss, and for sums of
// equal numbers, whose mean is off by a bit although they have no spread.
func (p printedNumber) near(ours, reach float64) bool {
	return math.Abs(ours-p.value) <= reach+1e-9*max(reach, math.Abs(ours)/1000)
}
