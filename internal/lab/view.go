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

// MostColours is how many things one plot compares.
const MostColours = 5

// plot draws a view. An unknown metric is an error.
func (f findings) plot(v View) (Plot, error) {
	p := Plot{Name: v.Name, Title: v.Title, X: v.XAxis, Y: v.Y, Notes: v.Notes}
	if p.X.Label == "" {
		p.X.Label = v.X
	}
	colours := 0 // of the values of By
	for i, curve := range v.Curves {
		g, err := f.grid(cmp.Or(curve.Measured, curve.Formula))
		if err != nil {
			return p, fmt.Errorf("plot %q: %w", v.Name, err)
		}
		if d := g.dim(v.X); d != nil && len(p.X.Names) == 0 {
			p.X.Names = d.Names
		}
		places, err := v.places(g)
		if err != nil {
			return p, fmt.Errorf("plot %q: %w", v.Name, err)
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
	if len(v.Marks) > 0 {
		s := Series{Name: "printed: " + v.Marks[0].Text, Style: Printed}
		for _, m := range v.Marks {
			s.Points = append(s.Points, Point{X: m.X, Y: m.Y})
		}
		p.Series = append(p.Series, s)
	}
	return p, nil
}

func (g *Grid) dim(name string) *Dim {
	for i := range g.Dims {
		if g.Dims[i].Name == name {
			return &g.Dims[i]
		}
	}
	return nil
}

// places returns one point for each value of By, or one in all, with the fixed
// coordinates. Dimensions that are not fixed have their first value.
func (v View) places(g *Grid) ([]At, error) {
	at := At{g.Dims, make([]float64, len(g.Dims))}
	for i, d := range g.Dims {
		at.place[i] = d.Values[0]
	}
	at, err := (Pick{metric: v.Name, fixed: v.At}).place(g, at)
	if err != nil {
		return nil, err
	}
	by := g.dim(v.By)
	if by == nil {
		return []At{at}, nil
	}
	values := by.Values
	if len(v.Only) > 0 {
		values = nil
	}
	for _, o := range v.Only {
		place, err := (Pick{metric: v.Name, fixed: []any{v.By, o}}).place(g, at)
		if err != nil {
			return nil, err
		}
		values = append(values, place.Float(v.By))
	}
	var out []At
	for _, value := range values {
		out = append(out, at.with(v.By, value))
	}
	return out, nil
}

// series draws a curve through a point: its formula, then what was measured.
func (g *Grid) series(v View, curve Curve, at At, color int) []Series {
	name := cmp.Or(curve.Name, curve.Measured, curve.Formula)
	if by := g.dim(v.By); by != nil && !curve.Once {
		name = by.label(at.Float(v.By))
	}
	var out []Series
	if s := g.smooth(curve.Formula, v, at); len(s.Points) > 0 {
		s.Color, s.Style = color, Line
		if curve.Measured == "" {
			s.Name, s.Style = name, curve.Style
		}
		out = append(out, s)
	}
	s := Series{Name: name, Style: curve.Style, Color: color}
	if s.Style == "" && curve.Formula != "" {
		s.Style = Dots
	} else if s.Style == "" {
		s.Style = LinePoints
	}
	for _, x := range g.dim(v.X).Values {
		if c, ok := g.cell(curve.Measured, at.with(v.X, x)); ok {
			if point := c.point(x, v.Y.Log); !v.Y.Log || point.Y > 0 {
				s.Points = append(s.Points, point)
			}
		}
	}
	if len(s.Points) > 0 {
		out = append(out, s)
	}
	return out
}

// point is the cell as a point of a plot. No share is below none or above all.
func (c Cell) point(x float64, log bool) Point {
	p := c.Value.At(x)
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
	d := g.dim(v.X)
	from, to := slices.Min(d.Values), slices.Max(d.Values)
	if len(d.Names) > 0 || from == to {
		for _, x := range d.Values {
			s.Points = append(s.Points, Point{X: x, Y: g.formulas[i].Of(at.with(v.X, x))})
		}
		return s
	}
	count := max(smoothPoints, 2*len(d.Values)) // as fine as the measurement, for saw-teeth
	for j := range count {
		x := between(v.XAxis, from, to, float64(j)/float64(count-1))
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

// between divides a range as the axis shows it.
func between(a Axis, from, to, share float64) float64 {
	if a.Log {
		return from * math.Pow(to/from, share)
	}
	return from + share*(to-from)
}
