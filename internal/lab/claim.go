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

	// FullOnly is for claims about sizes that quick runs do not reach.
	FullOnly bool

	// DataOnly is for claims about real data.
	DataOnly bool
}

// A Test judges the numbers of a claim.
type Test func(f findings, c Claim) (judgement, error)

// judgement is what a test found.
type judgement struct {
	verdict   Verdict
	ours      string
	tolerance string
}

// judge makes a check of a claim.
func (f findings) judge(c Claim) (Check, error) {
	if c.Is == nil {
		return Check{}, fmt.Errorf("claim %q: no test", c.Name)
	}
	j, err := c.Is(f, c)
	if err != nil {
		return Check{}, fmt.Errorf("claim %q: %w", c.Name, err)
	}
	for _, p := range c.Show {
		cells, err := f.cells(p)
		if err != nil {
			return Check{}, fmt.Errorf("claim %q: %w", c.Name, err)
		}
		j.ours += fmt.Sprintf("; %s: %s", p, several(cells, p.fixed))
	}
	check := Check{Kind: c.Kind, Name: c.Name, Printed: c.Printed, Ours: j.ours, Tolerance: j.tolerance, Verdict: j.verdict}
	if c.Where != "" {
		check.Printed += " (" + c.Where + ")"
	}
	if check.Verdict == Differs {
		check.Reason, check.Known = cmp.Or(c.Why, unexplained), c.Why != ""
	}
	return check, nil
}

// one is for tests of a single number.
func (f findings) one(p Pick) (Cell, error) {
	cells, err := f.cells(p)
	if err == nil && len(cells) != 1 {
		err = fmt.Errorf("%s: %d numbers, not one", p, len(cells))
	}
	if err != nil {
		return Cell{}, err
	}
	return cells[0], nil
}

// Rounds is for computed numbers: they round to the printed digits.
func Rounds() Test {
	return func(f findings, c Claim) (judgement, error) {
		cell, err := f.one(c.Of)
		return exact(c.Printed, cell.Value.Mean), err
	}
}

// Agrees is for means of trials: they are within [Sigmas] standard errors of the
// printed number, which has its digits and comes from so many trials; 0 if it is exact.
// Where these are more than half of the number, agreement says nothing.
func Agrees(trials int) Test {
	return func(f findings, c Claim) (judgement, error) {
		cell, err := f.one(c.Of)
		if p, bad := parsePrinted(c.Printed); bad == nil {
			cell.Value = cell.expecting(p.value)
		}
		return sampled(c.Printed, cell.Value, trials), err
	}
}

// Around is for round numbers with the word "around" or "about": right to one
// significant digit, noise of ours allowed.
func Around() Test {
	return func(f findings, c Claim) (judgement, error) {
		cell, err := f.one(c.Of)
		if err != nil {
			return judgement{}, err
		}
		p, err := parsePrinted(c.Printed)
		if err != nil {
			return judgement{}, err
		}
		reach := math.Pow(10, math.Floor(math.Log10(math.Abs(p.value))))/2 + cell.Value.Reach(Sigmas)
		return judgement{verdict(near(cell.Value.Mean, p.value, reach)), cell.String(), p.around(reach) + ": \"around\" is right to one digit, and our noise"}, nil
	}
}

func verdict(ok bool) Verdict {
	if ok {
		return Reproduced
	}
	return Differs
}

// Shows compares with nothing: an open question, or a number to know.
func Shows() Test {
	return func(f findings, c Claim) (judgement, error) {
		cells, err := f.cells(c.Of)
		return judgement{verdict: Shown, ours: several(cells, c.Of.fixed)}, err
	}
}

// Zero is for what must never happen: a sum of 0 over all points.
func Zero() Test {
	return func(f findings, c Claim) (judgement, error) {
		cells, err := f.cells(c.Of)
		total, trials := 0.0, 0
		for _, cell := range cells {
			total += cell.Value.Mean * float64(max(1, cell.Value.N))
			trials += cell.Value.N
		}
		return judgement{verdict(math.Abs(total) < 1e-9), fmt.Sprintf("%s in %d trials", digitsFor(total, 1), trials), "none at all"}, err
	}
}

// finish makes tables, plots and checks of what was found.
func (x Experiment) finish(r *Result, e *Env) error {
	found := findings(r.Grids)
	var problems []error
	for _, g := range r.Grids {
		if g.Name != "" {
			r.Tables = append(r.Tables, g.table())
		}
	}
	for _, v := range x.Plots {
		p, err := found.plot(v)
		problems = append(problems, err)
		r.Plots = append(r.Plots, p)
	}
	for _, c := range x.Claims {
		if only := c.only(e); only != "" {
			r.Checks = append(r.Checks, Check{Kind: c.Kind, Name: c.Name, Printed: c.Printed, Ours: "judged " + only + " only", Verdict: Shown})
			continue
		}
		check, err := found.judge(c)
		problems = append(problems, err)
		r.Checks = append(r.Checks, check)
	}
	for i := range r.Checks {
		if r.Checks[i].Kind == "" {
			r.Checks[i].Kind = x.Kind()
		}
	}
	return errors.Join(problems...)
}

// only tells what the claim needs and the run does not have.
func (c Claim) only(e *Env) string {
	switch {
	case c.FullOnly && !e.Full:
		return "in full runs"
	case c.DataOnly && e.Data == "":
		return "with real data"
	}
	return ""
}

// Kind is that of claims that do not say.
func (x Experiment) Kind() Kind {
	if x.Paper == "" {
		return Own
	}
	return Paper
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
func Constants(name, title string, list ...Constant) (*Grid, []Claim) {
	var names []string
	var claims []Claim
	for _, c := range list {
		names = append(names, c.Name)
		claim := Claim{Kind: c.Kind, Name: c.Name, Printed: c.Printed, Where: c.Where, Of: Of(name, "number", c.Name), Is: c.Is, Why: c.Why}
		switch {
		case c.Printed == "":
			claim.Is = Shows()
		case c.Is == nil:
			claim.Is = Rounds()
		}
		claims = append(claims, claim)
	}
	return Computed(name, title, []Dim{Among("number", names...)}, Formula{Name: name, Of: func(at At) float64 { return list[at.Int("number")].Value }}), claims
}
