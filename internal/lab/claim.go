package lab

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Claim is one sentence or number with the way to judge it. Claims are data of an
// [Experiment]: rows of a table, judged on what its sweeps and races found.
type Claim struct {
	Kind    Kind   // Paper if empty and the experiment has one, else Own
	Name    string // unique in the experiment
	Printed string // what is claimed; a number comes first: "80 %"
	Where   string // "Sec. IV", "Fig. 3", "README"

	Of Pick // the numbers that it is about
	Is Test // how they must be

	// Why explains a claim that does not hold. One with a reason is expected to
	// differ, one without is not; a strict run fails for the latter.
	Why string

	Show []Pick // further numbers to print beside

	FullOnly bool // it is about sizes that quick runs do not reach
	DataOnly bool // it is about real data
}

// A Test judges the numbers of a claim.
type Test func(f findings, c Claim) (judgement, error)

// judge makes a check of a claim.
func (f findings) judge(c Claim, e *Env) (Check, error) {
	check := Check{Kind: c.Kind, Name: c.Name, Printed: c.Printed, Verdict: Shown}
	if c.Where != "" {
		check.Printed += " (" + c.Where + ")"
	}
	switch {
	case c.Is == nil:
		return check, fmt.Errorf("claim %q: no test", c.Name)
	case c.FullOnly && !e.Full:
		check.Ours = "judged in full runs only"
		return check, nil
	case c.DataOnly && e.Data == "":
		check.Ours = "judged with real data only"
		return check, nil
	}
	j, err := c.Is(f, c)
	for _, p := range c.Show {
		cells, bad := f.cells(p)
		j.ours += fmt.Sprintf("; %s: %s", p, several(cells, p.fixed))
		err = cmp.Or(err, bad)
	}
	if err != nil {
		return check, fmt.Errorf("claim %q: %w", c.Name, err)
	}
	check.Ours, check.Tolerance, check.Verdict = j.ours, j.tolerance, j.verdict
	c.explain(&check)
	return check, nil
}

// explain gives a check that differs the reason of its claim.
func (c Claim) explain(check *Check) {
	if check.Verdict == Differs {
		check.Reason, check.Known = cmp.Or(c.Why, unexplained), c.Why != ""
	}
}

// Explain gives checks of an earlier run the reasons that the claims have today: reasons are
// often found after a run, and change nothing that it measured.
func (x Experiment) Explain(checks []Check) {
	for i := range checks {
		for _, c := range x.Claims {
			if c.Name == checks[i].Name {
				c.explain(&checks[i])
			}
		}
	}
}

// Rounds is for computed numbers: they round to the printed digits.
func Rounds() Test {
	return withPrinted(0, func(p printedNumber, c Cell) (printedNumber, Estimate) { return p, Estimate{Mean: c.Value.Mean} })
}

// Agrees is for means of trials: they are within [Sigmas] standard errors of the
// printed number, which has its digits and comes from so many trials; 0 if it is exact.
// Where these are more than half of the number, agreement says nothing.
func Agrees(trials int) Test {
	return withPrinted(trials, func(p printedNumber, c Cell) (printedNumber, Estimate) { return p, c.expecting(p.value) })
}

// What vague words are taken as, wherever they stand: as so many times.
const (
	Slightly   = 1.25 // "slightly", "just over": less than that
	Comparable = 2    // "comparable", "affordable", "not significant", "roughly the same": less than that
	Much       = 2    // "much", "great": that or more
)

// Around is for round numbers with the word "around" or "about": right to one
// significant digit and to a fifth, noise of ours allowed.
func Around() Test {
	return withPrinted(0, func(p printedNumber, c Cell) (printedNumber, Estimate) {
		v := math.Abs(p.value)
		p.half, p.digits = min(math.Pow(10, math.Floor(math.Log10(v)))/2, v/5), "one digit and a fifth, as the word \"around\" says"
		return p, c.Value
	})
}

// JustOver is for computed numbers with the word "slightly over" or "just over": above,
// and less than [Slightly] times.
func JustOver() Test {
	return withPrinted(0, func(p printedNumber, c Cell) (printedNumber, Estimate) {
		p.half, p.digits = p.value*(Slightly-1)/2, "above it by a quarter at most, as the word \"over\" says"
		p.value += p.half
		return p, Estimate{Mean: c.Value.Mean}
	})
}

// withPrinted compares one number with the printed one; read may change both.
func withPrinted(trials int, read func(printedNumber, Cell) (printedNumber, Estimate)) Test {
	return func(f findings, c Claim) (judgement, error) {
		p, bad := parsePrinted(c.Printed)
		cells, err := f.cells(c.Of)
		if err == nil && len(cells) != 1 {
			err = fmt.Errorf("%s: %d numbers, not one", c.Of, len(cells))
		}
		if err = errors.Join(bad, err); err != nil {
			return judgement{}, err
		}
		p, ours := read(p, cells[0])
		return p.compare(ours, trials), nil
	}
}

// Shows compares with nothing: an open question, or a number to know.
func Shows() Test {
	return func(f findings, c Claim) (judgement, error) {
		cells, err := f.cells(c.Of)
		return judgement{verdict: Shown, ours: several(cells, c.Of.fixed)}, err
	}
}

// NotMeasured is for what is claimed and was not tried, with the reason.
func NotMeasured(why string) Test {
	return func(findings, Claim) (judgement, error) {
		return judgement{verdict: Shown, ours: "not measured: " + why}, nil
	}
}

// Zero is for what must never happen: a sum of 0 over all points. Numbers that do not
// come from trials need another one that tells how often it could have happened.
func Zero(tried ...Pick) Test {
	return func(f findings, c Claim) (judgement, error) {
		cells, err := f.cells(c.Of)
		total, trials, often := 0.0, 0, 0.0
		for _, cell := range cells {
			total += cell.Value.Mean * float64(max(1, cell.Value.N))
			trials += cell.Value.N
		}
		for _, p := range tried {
			all, bad := f.cells(p)
			for _, cell := range all {
				often += cell.Value.Mean
			}
			err = errors.Join(err, bad)
		}
		j := judgement{verdict(math.Abs(total) < 1e-9), fmt.Sprintf("%s in %d trials", number(total), trials), "none at all"}
		if trials == 0 {
			j.ours = fmt.Sprintf("%s of %s", number(total), number(often))
		}
		if err == nil && trials == 0 && often == 0 {
			err = fmt.Errorf("%s: nothing was tried", c.Of)
		}
		return j, err
	}
}

// Constant is a computed number with what is printed of it.
type Constant struct {
	Kind    Kind
	Name    string
	Printed string
	Where   string
	Value   float64
	Is      Test // [Rounds] if nil
	Why     string
}

// Constants returns a table of numbers, and claims that they are what is printed.
// Those without anything printed are shown. The table has the given name.
func Constants(name, title string, list ...Constant) (Part, []Claim) {
	var claims []Claim
	for _, c := range list {
		claim := Claim{Kind: c.Kind, Name: c.Name, Printed: c.Printed, Where: c.Where, Of: Of(name, "number", c.Name), Is: c.Is, Why: c.Why}
		switch {
		case c.Printed == "":
			claim.Is = Shows()
		case c.Is == nil:
			claim.Is = Rounds()
		}
		claims = append(claims, claim)
	}
	numbers := AmongAll("number", list, func(c Constant) string { return c.Name })
	return Computed(name, title, []Dim{numbers}, Formula{Name: name, Of: func(at At) float64 { return list[at.Int("number")].Value }}), claims
}
