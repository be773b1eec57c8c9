package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/internal/timing"
)

// Pick names numbers of the grids of an experiment: a metric or formula at all points
// that have the given coordinates. Make it with [Of] or [Number].
type Pick struct {
	metric string
	fixed  []any // pairs of a dimension and a value
	number float64

	other *Pick // what it is divided by
}

// Of picks a metric. Coordinates are pairs of a dimension and its value, or the
// name of its value: Of("rate", "r", 24, "contender", "elastic").
func Of(metric string, coordinates ...any) Pick { return Pick{metric: metric, fixed: coordinates} }

// Number is a constant, to compare with.
func Number(v float64) Pick { return Pick{number: v} }

// Over picks ratios. Coordinates that other does not fix are those of p.
func (p Pick) Over(other Pick) Pick { p.other = &other; return p }

func (p Pick) String() string {
	if p.metric == "" {
		return number(p.number)
	}
	text := p.metric
	for i := 0; i+1 < len(p.fixed); i += 2 {
		if _, named := p.fixed[i+1].(string); named {
			text = fmt.Sprintf("%s, %v", text, p.fixed[i+1])
		} else {
			text = fmt.Sprintf("%s, %v = %v", text, p.fixed[i], p.fixed[i+1])
		}
	}
	if p.other != nil {
		text += " to " + p.other.String()
	}
	return text
}

// findings are the grids of one result.
type findings []*Grid

// grid finds the one that has a metric.
func (f findings) grid(metric string) (*Grid, error) {
	for _, g := range f {
		if slices.Contains(g.columns, metric) {
			return g, nil
		}
	}
	return nil, fmt.Errorf("no grid has a metric %q", metric)
}

// cells returns the numbers that p picks, at least one.
func (f findings) cells(p Pick) ([]Cell, error) {
	if p.metric == "" {
		return []Cell{{Value: Estimate{Mean: p.number}}}, nil
	}
	g, err := f.grid(p.metric)
	if err != nil {
		return nil, err
	}
	var out []Cell
	for _, c := range g.cells {
		if c.Metric != p.metric {
			continue
		}
		if at, err := p.place(g, c.At); err != nil {
			return nil, err
		} else if !slices.Equal(at.place, c.At.place) {
			continue
		}
		if p.other != nil {
			if c, err = f.divide(c, p); err != nil {
				return nil, err
			}
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("nothing found of %s", p)
	}
	return out, nil
}

// place returns a point of g with the coordinates that p fixes.
func (p Pick) place(g *Grid, at At) (At, error) {
	for i := 0; i+1 < len(p.fixed); i += 2 {
		name, _ := p.fixed[i].(string)
		dim := slices.IndexFunc(g.Dims, func(d Dim) bool { return d.Name == name })
		if dim < 0 {
			return at, fmt.Errorf("%s: there is no dimension %q", p, name)
		}
		var value float64
		switch v := p.fixed[i+1].(type) {
		case int:
			value = float64(v)
		case float64:
			value = v
		case string:
			value = float64(slices.Index(g.Dims[dim].Names, v))
		}
		if !slices.Contains(g.Dims[dim].Values, value) {
			return at, fmt.Errorf("%s: %q has no value %v", p, name, p.fixed[i+1])
		}
		at = at.with(name, value)
	}
	return at, nil
}

// at returns the number that p picks for the point of another cell: what p does not
// fix is taken from there.
func (f findings) at(p Pick, from At) (Cell, error) {
	if p.metric == "" {
		return Cell{At: from, Value: Estimate{Mean: p.number}}, nil
	}
	g, err := f.grid(p.metric)
	if err != nil {
		return Cell{}, err
	}
	start := At{g.Dims, make([]float64, len(g.Dims))}
	for i, d := range g.Dims {
		start.place[i] = math.NaN()
		if len(d.Values) == 1 {
			start.place[i] = d.Values[0]
		}
		if _, v, ok := from.find(d.Name); ok {
			start.place[i] = v
		}
	}
	place, err := p.place(g, start)
	if err != nil {
		return Cell{}, err
	}
	c, ok := g.cell(p.metric, place)
	if !ok {
		return Cell{}, fmt.Errorf("nothing found of %s at %s", p, place)
	}
	if p.other != nil {
		return f.divide(c, p)
	}
	return c, nil
}

// divide divides a cell by the other pick of p.
func (f findings) divide(c Cell, p Pick) (Cell, error) {
	o, err := f.at(*p.other, c.At)
	if err != nil {
		return c, err
	}
	a, b := c.Value, o.Value
	c.Unit = Plain
	if rs := timing.Ratios(c.samples, o.samples); len(rs) > 1 {
		c.Value, c.samples = robust(rs), rs
		return c, nil
	}
	// The relative errors of a quotient add up like those of a product.
	n := max(a.N, b.N)
	q := a.Mean / b.Mean
	relative := math.Hypot(a.StandardError()/a.Mean, b.StandardError()/b.Mean)
	if math.IsNaN(q) || math.IsInf(q, 0) {
		return c, fmt.Errorf("%s: %v to %v at %s", p, a.Mean, b.Mean, c.At)
	}
	c.Value = Estimate{q, max(0, math.Abs(q)*relative*math.Sqrt(float64(max(n, 1)))), n}
	if a.Mean == 0 {
		c.Value.Deviation = a.Deviation / math.Abs(b.Mean)
	}
	return c, nil
}

// several writes what was picked, the first and last if there are many.
func several(cells []Cell, fixed []any) string {
	const many = 6
	if len(cells) == 1 {
		return cells[0].String()
	}
	parts := make([]string, 0, len(cells))
	for i, c := range cells {
		if len(cells) > many && i >= many/2 && i < len(cells)-many/2 {
			if i == many/2 {
				parts = append(parts, "…")
			}
			continue
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", c, c.At.free(fixed)))
	}
	return strings.Join(parts, ", ")
}

// free writes the coordinates that are not fixed and vary.
func (a At) free(fixed []any) string {
	var parts []string
	for i, d := range a.dims {
		if len(d.Values) > 1 && !slices.Contains(fixed, any(d.Name)) {
			parts = append(parts, d.label(a.place[i]))
		}
	}
	return strings.Join(parts, ", ")
}
