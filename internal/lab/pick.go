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

// place returns the coordinates in g that p fixes, NaN for the others.
func (p Pick) place(g *Grid) ([]float64, error) {
	place := slices.Repeat([]float64{math.NaN()}, len(g.Dims))
	for i := 0; i+1 < len(p.fixed); i += 2 {
		name, _ := p.fixed[i].(string)
		dim := indexOf(g.Dims, name)
		if dim < 0 {
			return nil, fmt.Errorf("%s: there is no dimension %q", p, name)
		}
		switch v := p.fixed[i+1].(type) {
		case int:
			place[dim] = float64(v)
		case float64:
			place[dim] = v
		case string:
			place[dim] = float64(slices.Index(g.Dims[dim].Names, v))
		}
		if !slices.Contains(g.Dims[dim].Values, place[dim]) {
			return nil, fmt.Errorf("%s: %q has no value %v", p, name, p.fixed[i+1])
		}
	}
	return place, nil
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
	place, err := p.place(g)
	if err != nil {
		return nil, err
	}
	var out []Cell
	for _, c := range g.cells {
		other := func(v, at float64) bool { return v == at || math.IsNaN(v) }
		if c.Metric != p.metric || !slices.EqualFunc(place, c.At.place, other) {
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

// at returns the number that p picks for the point of another cell: what p does not
// fix is taken from there.
func (f findings) at(p Pick, from At) (Cell, error) {
	for i, d := range from.dims {
		if g, err := f.grid(p.metric); err == nil && indexOf(g.Dims, d.Name) >= 0 && !slices.Contains(p.fixed, any(d.Name)) {
			p.fixed = append(slices.Clip(p.fixed), d.Name, from.place[i])
		}
	}
	cells, err := f.cells(p)
	if err == nil && len(cells) != 1 {
		err = fmt.Errorf("%s: %d numbers, not one", p, len(cells))
	}
	if err != nil {
		return Cell{}, err
	}
	return cells[0], nil
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
	q, n := a.Mean/b.Mean, max(a.N, b.N)
	if math.IsNaN(q) || math.IsInf(q, 0) {
		return c, fmt.Errorf("%s: %v to %v at %s", p, a.Mean, b.Mean, c.At)
	}
	// The relative errors of a quotient add up like those of a product.
	c.Value = Estimate{q, a.Deviation / math.Abs(b.Mean), n}
	if a.Mean != 0 {
		relative := math.Hypot(a.StandardError()/a.Mean, b.StandardError()/b.Mean)
		c.Value.Deviation = math.Abs(q) * relative * math.Sqrt(float64(max(n, 1)))
	}
	return c, nil
}

// several writes what was picked, the first and last if there are many.
func several(cells []Cell, fixed []any) string {
	const many = 6
	if len(cells) == 1 {
		return cells[0].String()
	}
	var parts []string
	for i, c := range cells {
		if len(cells) <= many || i < many/2 || i >= len(cells)-many/2 {
			parts = append(parts, fmt.Sprintf("%s (%s)", c, c.At.free(fixed)))
		} else if i == many/2 {
			parts = append(parts, "…")
		}
	}
	return strings.Join(parts, ", ")
}
