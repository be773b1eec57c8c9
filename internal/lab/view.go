package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// View is a plot of one grid.
type View struct {
	Name, Title string
	Curves      []Curve // what is drawn
	X           string  // the dimension along the axis
	By          string  // the dimension that gives one colour to each value; none: one to each curve
	Only        []any   // values of By; all if empty
	At          []any   // coordinates of the other dimensions, as in [Of]
	XAxis, Y    Axis    // the label of x is that of the dimension if it has none
	Marks       []Mark  // what is printed
	Notes       []string
}

// Curve is a metric, and the formula that belongs to it, in one colour.
type Curve struct {
	Name     string // in the legend; the metric's if empty
	Measured string // metric, as points
	Formula  string // as a smooth curve
	Style    Style  // of the points; of formulas alone: Line or Dashed
	Once     bool   // not for each value of By
}

// Mark is a number in print.
type Mark struct {
	X, Y float64
	Text string
}

// mostColours is how many things one plot compares.
const mostColours = 5

// plot draws a view. An unknown metric is an error, and so is a sixth colour.
func (f findings) plot(v View) (Plot, error) {
	p := Plot{Name: v.Name, Title: v.Title, X: v.XAxis, Y: v.Y, Notes: v.Notes}
	p.X.Label = cmp.Or(p.X.Label, v.X)
	colours := 0 // of the values of By
	for i, curve := range v.Curves {
		g, err := f.grid(cmp.Or(curve.Measured, curve.Formula))
		if err != nil {
			return p, fmt.Errorf("plot %q: %w", v.Name, err)
		}
		places, err := v.places(g)
		if err != nil {
			return p, fmt.Errorf("plot %q: %w", v.Name, err)
		}
		if x, _, ok := places[0].find(v.X); ok && len(p.X.Names) == 0 {
			p.X.Names = x.Names
		}
		for j, at := range places {
			switch {
			case curve.Once && j == 0:
				p.Series = append(p.Series, g.series(v, curve, at, colours+i)...)
			case v.By == "":
				p.Series = append(p.Series, g.series(v, curve, at, i+1)...)
			case !curve.Once:
				p.Series = append(p.Series, g.series(v, curve, at, j+1)...)
				colours = len(places)
			}
		}
	}
	colours = 0
	for _, s := range p.Series {
		colours = max(colours, s.Color)
	}
	if colours > mostColours {
		return p, fmt.Errorf("plot %q compares %d things", v.Name, colours)
	}
	if len(v.Marks) > 0 {
		s := Series{Name: "printed: " + v.Marks[0].Text, Style: Printed}
		for _, m := range v.Marks {
			s.Points = append(s.Points, Point{X: m.X, Y: m.Y})
		}
		p.Series = append(p.Series, s)
	}
	return p, nil
}

// places returns one point for each value of By, or one in all, with the fixed
// coordinates. Dimensions that are not fixed have their first value.
func (v View) places(g *Grid) (out []At, err error) {
	choices := []any{nil}
	if i := indexOf(g.Dims, v.By); i >= 0 && len(v.Only) > 0 {
		choices = v.Only
	} else if i >= 0 {
		choices = nil
		for _, value := range g.Dims[i].Values {
			choices = append(choices, value)
		}
	}
	for _, choice := range choices {
		fixed := slices.Clone(v.At)
		if choice != nil {
			fixed = append(fixed, v.By, choice)
		}
		place, err := Pick{metric: v.Name, fixed: fixed}.place(g)
		if err != nil {
			return nil, err
		}
		for i, d := range g.Dims {
			if math.IsNaN(place[i]) {
				place[i] = d.Values[0]
			}
		}
		out = append(out, At{g.Dims, place})
	}
	return out, nil
}

// series draws a curve through a point: its formula, then what was measured.
func (g *Grid) series(v View, curve Curve, at At, color int) []Series {
	name := cmp.Or(curve.Name, curve.Measured, curve.Formula)
	if by, value, ok := at.find(v.By); ok && !curve.Once {
		name = by.label(value)
	}
	var out []Series
	if s := g.smooth(curve.Formula, v, at); len(s.Points) > 0 {
		s.Color, s.Style = color, Line
		if curve.Measured == "" {
			s.Name, s.Style = name, curve.Style
		}
		out = append(out, s)
	}
	s := Series{Name: name, Style: cmp.Or(curve.Style, LinePoints), Color: color}
	if curve.Style == "" && curve.Formula != "" {
		s.Style = Dots
	}
	dim, _, _ := at.find(v.X)
	for _, x := range dim.Values {
		if c, ok := g.cell(curve.Measured, at.with(v.X, x)); ok && (!v.Y.Log || c.Value.Mean > 0) {
			s.Points = append(s.Points, c.point(x, v.Y.Log))
		}
	}
	if len(s.Points) > 0 {
		out = append(out, s)
	}
	return out
}

// point is the cell as a point of a plot, with an interval that is right 95 times in
// 100. No share is below none or above all.
func (c Cell) point(x float64, log bool) Point {
	mean, reach := c.Value.Mean, c.Value.Reach(2)
	p := Point{X: x, Y: mean, Lo: mean - reach, Hi: mean + reach}
	if c.asked > 0 && c.Unit == InPercent {
		p.Lo, p.Hi = max(p.Lo, 0), min(p.Hi, 1)
	}
	if log {
		p.Lo = max(p.Lo, p.Y/1000)
	}
	return p
}

// smoothPoints is how many points a curve has, enough for any bend.
const smoothPoints = 64

// smooth computes a formula along x.
func (g *Grid) smooth(name string, v View, at At) (s Series) {
	i := slices.IndexFunc(g.formulas, func(f Formula) bool { return f.Name == name })
	if i < 0 {
		return s
	}
	d, _, _ := at.find(v.X)
	values := d.Values
	if from, to := slices.Min(values), slices.Max(values); len(d.Names) == 0 && from < to {
		values = make([]float64, max(smoothPoints, 2*len(values))) // as fine as the measurement, for saw-teeth
		for j := range values {
			share := float64(j) / float64(len(values)-1)
			if values[j] = from + share*(to-from); v.XAxis.Log {
				values[j] = from * math.Pow(to/from, share)
			}
		}
	}
	for _, x := range values {
		if y := g.formulas[i].Of(at.with(v.X, x)); y > 0 || !v.Y.Log && !math.IsNaN(y) {
			s.Points = append(s.Points, Point{X: brief(x), Y: brief(y)})
		}
	}
	return s
}

// brief keeps the digits that a plot can show: results are stored as text.
func brief(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	return short
}
