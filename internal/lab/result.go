package lab

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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

// Plot is one picture: series over two axes, or a drawing.
type Plot struct {
	Name   string   `json:"name"` // of its files, such as "rate"; unique in the result
	Title  string   `json:"title"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series,omitempty"`

	// Drawing is a whole SVG element made by the experiment, where axes do not
	// fit; there are no series then. It has a viewBox, no background and the classes
	// of package draw.
	Drawing string `json:"drawing,omitempty"`

	Notes []string `json:"notes,omitempty"`
}

// Axis is one of the two.
type Axis struct {
	Label   string   `json:"label"`             // with the unit
	Log     bool     `json:"log,omitempty"`     // all values must then be above 0
	Percent bool     `json:"percent,omitempty"` // shares: 0.01 is labelled 1 %
	Min     float64  `json:"min,omitempty"`     // Min and Max both 0: from the data
	Max     float64  `json:"max,omitempty"`
	Names   []string `json:"names,omitempty"` // labels of 0, 1, 2 ... in place of numbers
}

// Series is one curve, or one set of points.
type Series struct {
	Name   string  `json:"name"`
	Style  Style   `json:"style,omitempty"`
	Points []Point `json:"points"`

	// Color chooses one of the palette, from 1, so that theory and measurement of
	// one thing can share it; 0 takes the next.
	Color int `json:"color,omitempty"`
}

// Point is one value. Lo and Hi are the ends of its interval, both 0 if it has
// none.
type Point struct {
	X  float64 `json:"x"`
	Y  float64 `json:"y"`
	Lo float64 `json:"lo,omitempty"`
	Hi float64 `json:"hi,omitempty"`
}

// HasInterval reports whether the point has an interval.
func (p Point) HasInterval() bool { return p.Lo != 0 || p.Hi != 0 }

// Style is how a series is drawn. Formulas are lines or dashed, measurements have
// points.
type Style string

// The styles; the zero value is Line.
const (
	Line       Style = "line"
	Dashed     Style = "dashed"
	Dots       Style = "points"
	LinePoints Style = "linepoints"
	Printed    Style = "printed" // numbers in print, as marks
)

var styles = []Style{"", Line, Dashed, Dots, LinePoints, Printed}

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

// Add appends a row. Floats get four significant digits; a caller that needs others passes
// a string.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		if f, ok := c.(float64); ok {
			row[i] = Digits(f, 4)
		} else {
			row[i] = fmt.Sprint(c)
		}
	}
	t.Rows = append(t.Rows, row)
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
		problems = append(problems, p.check(names))
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

func (p Plot) check(names map[string]bool) error {
	problems := []error{takeName(names, p.Name)}
	if (len(p.Series) == 0) == (p.Drawing == "") {
		problems = append(problems, fmt.Errorf("plot %q: it must have either series or a drawing", p.Name))
	}
	for _, s := range p.Series {
		problems = append(problems, p.checkSeries(s))
	}
	return errors.Join(problems...)
}

func (p Plot) checkSeries(s Series) error {
	if len(s.Points) == 0 || !slices.Contains(styles, s.Style) || s.Color < 0 {
		return fmt.Errorf("plot %q: series %q: %d points, style %q, colour %d", p.Name, s.Name, len(s.Points), s.Style, s.Color)
	}
	for _, pt := range s.Points {
		for _, v := range []float64{pt.X, pt.Y, pt.Lo, pt.Hi} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("plot %q: series %q: point %v is not finite", p.Name, s.Name, pt)
			}
		}
		if p.X.Log && pt.X <= 0 || p.Y.Log && pt.Y <= 0 {
			return fmt.Errorf("plot %q: series %q: point %v is not above 0 on a logarithmic axis", p.Name, s.Name, pt)
		}
		if pt.HasInterval() && (pt.Lo > pt.Y || pt.Hi < pt.Y) {
			return fmt.Errorf("plot %q: series %q: point %v is outside its interval", p.Name, s.Name, pt)
		}
	}
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
