package draw

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Plot is one picture: series over two axes.
type Plot struct {
	Name   string   `json:"name"` // of its files, such as "rate"; unique in the result
	Title  string   `json:"title"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series,omitempty"`

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

// Check reports what cannot be drawn.
func (p Plot) Check() error {
	var problems []error
	if len(p.Series) == 0 {
		problems = append(problems, fmt.Errorf("plot %q: it has no series", p.Name))
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
