package lab

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/internal/draw"
)

// Result is what an experiment found.
type Result struct {
	Plots  []Plot   `json:"plots,omitempty"`
	Tables []Table  `json:"tables,omitempty"`
	Checks []Check  `json:"checks,omitempty"`
	Notes  []string `json:"notes,omitempty"`

	// Grids are what sweeps and races found. Each gives a table; the plots and claims of
	// the experiment take their numbers from them.
	Grids []*Grid `json:"-"`
}

type (
	// Plot is one picture.
	Plot = draw.Plot
	// Axis is one of the two of a plot.
	Axis = draw.Axis
	// Series is one curve, or one set of points.
	Series = draw.Series
	// Point is one value.
	Point = draw.Point
	// Style is how a series is drawn.
	Style = draw.Style
)

// The styles of series; the zero value is Line.
const (
	Line       = draw.Line
	Dashed     = draw.Dashed
	Dots       = draw.Dots
	LinePoints = draw.LinePoints
	Printed    = draw.Printed
)

// Table has rows of text.
type Table struct {
	Name    string     `json:"name"` // of its file; unique in the result
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Notes   []string   `json:"notes,omitempty"`
}

// digitsFor writes v with two digits more than a difference of that size begins
// at.
func digitsFor(v, size float64) string {
	if v == 0 || !(size > 0) {
		return Digits(v, 4)
	}
	return Digits(v, max(2, 2+int(math.Floor(math.Log10(math.Abs(v)))-math.Floor(math.Log10(size)))))
}

// Digits writes v with so many significant digits, without an exponent where that
// is readable.
func Digits(v float64, digits int) string {
	if a := math.Abs(v); a >= 1e-4 && a < 1e9 {
		places := max(0, digits-1-int(math.Floor(math.Log10(a))))
		return strconv.FormatFloat(v, 'f', places, 64)
	}
	// An exponent has no leading zero: 1.2e-6.
	return strings.NewReplacer("e-0", "e-", "e+0", "e+").Replace(strconv.FormatFloat(v, 'g', digits, 64))
}

// Percent writes a share with three significant digits: 0.8 is 80.0 %.
func Percent(share float64) string { return Digits(100*share, 3) + " %" }

// Tally counts the checks by outcome.
func (r *Result) Tally() string { return Tally(r.Checks) }

// Unexpected returns the checks that differ without an explanation.
func (r *Result) Unexpected() []Check {
	return slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return !c.Unexpected() })
}

// Check reports everything that would make the result unreadable.
func (r *Result) Check() error {
	var problems []error
	names := map[string]bool{}
	for _, p := range r.Plots {
		problems = append(problems, takeName(names, p.Name), p.Check())
	}
	for _, t := range r.Tables {
		problems = append(problems, t.check(names))
	}
	if len(r.Plots)+len(r.Tables)+len(r.Checks) == 0 {
		problems = append(problems, errors.New("an empty result"))
	}
	return errors.Join(problems...)
}

// takeName refuses names that cannot be files or are taken.
func takeName(names map[string]bool, name string) error {
	if !idForm.MatchString("x/"+name) || name == "result" || name == "checks" || names[name] {
		return fmt.Errorf("name %q: it is taken or not of the form a-z0-9-", name)
	}
	names[name] = true
	return nil
}

func (t Table) check(names map[string]bool) error {
	if err := takeName(names, t.Name); err != nil {
		return err
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("table %q: row %d has %d cells for %d columns", t.Name, i, len(row), len(t.Columns))
		}
	}
	return nil
}
