package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Dim is a parameter that a sweep or a race varies, with its values.
type Dim struct {
	Name   string // in claims, columns and labels: "n"
	Values []float64
	Names  []string // of contenders; their values are 0, 1, 2 ...
}

// Along varies a number.
func Along[T int | float64](name string, values ...T) Dim {
	d := Dim{Name: name}
	for _, v := range values {
		d.Values = append(d.Values, float64(v))
	}
	return d
}

// Count varies a whole number, from one to another.
func Count(name string, from, to int) Dim {
	d := Dim{Name: name}
	for i := from; i <= to; i++ {
		d.Values = append(d.Values, float64(i))
	}
	return d
}

// Among varies what has a name: contenders, readings, data.
func Among(name string, names ...string) Dim {
	d := Dim{Name: name, Names: names}
	for i := range names {
		d.Values = append(d.Values, float64(i))
	}
	return d
}

// AmongAll varies what has a name in a list.
func AmongAll[T any](dim string, list []T, name func(T) string) Dim {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = name(v)
	}
	return Among(dim, names...)
}

// text writes a value of the dimension.
func (d Dim) text(v float64) string {
	if i := int(v); i >= 0 && i < len(d.Names) {
		return d.Names[i]
	}
	return number(v)
}

// label writes a value with the name of the dimension; contenders need none.
func (d Dim) label(v float64) string {
	if len(d.Names) > 0 {
		return d.text(v)
	}
	return d.Name + " = " + d.text(v)
}

// At is a point of a grid: one value for each dimension.
type At struct {
	dims  []Dim
	place []float64
}

func indexOf(dims []Dim, name string) int {
	return slices.IndexFunc(dims, func(d Dim) bool { return d.Name == name })
}

func (a At) find(name string) (dim Dim, value float64, ok bool) {
	i := indexOf(a.dims, name)
	if i < 0 {
		return Dim{}, 0, false
	}
	return a.dims[i], a.place[i], true
}

// Float returns the value of a dimension. Like the getters of [Env] it panics if
// there is none: the experiment is wrong.
func (a At) Float(name string) float64 {
	_, v, ok := a.find(name)
	if !ok {
		panic(fmt.Sprintf("lab: the grid has no dimension %q", name))
	}
	return v
}

// Int returns the value of a dimension, rounded. In smooth curves of formulas values
// lie between those of the dimension.
func (a At) Int(name string) int { return int(math.Round(a.Float(name))) }

// Name returns the name of the value of a dimension.
func (a At) Name(name string) string {
	dim, _, _ := a.find(name)
	return dim.text(a.Float(name))
}

func (a At) String() string { return a.free(nil) }

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

// with returns the point with another value for one dimension, if there is that one.
func (a At) with(name string, value float64) At {
	out := At{a.dims, slices.Clone(a.place)}
	if i := indexOf(a.dims, name); i >= 0 {
		out.place[i] = value
	}
	return out
}

// points returns all combinations of the values, the last dimension fastest.
func points(dims []Dim) []At {
	all := []At{{dims: dims}}
	for _, d := range dims {
		var next []At
		for _, a := range all {
			for _, v := range d.Values {
				next = append(next, At{dims, append(slices.Clone(a.place), v)})
			}
		}
		all = next
	}
	return all
}

// Cell is what was found of one metric at one point.
type Cell struct {
	At     At
	Metric string
	Unit   Unit
	Value  Estimate

	samples []float64 // of a race, round by round
	asked   int       // answers of one trial, see Metric.Asked
	trials  int       // of a share, whose answers may count in their place
}

func (c Cell) String() string { return c.Unit.estimate(c.Value) }

// expecting returns the value of a share with no smaller a deviation than its answers
// have if the share is p, or one of all is otherwise. A single trial has no spread but
// that of its answers, which are then what counts.
func (c Cell) expecting(p float64) Estimate {
	e := c.Value
	if c.asked > 0 {
		all := float64(c.asked * max(1, c.trials))
		p = min(max(p, 1/all), 1-1/all)
		if c.trials <= 1 {
			return Estimate{e.Mean, math.Sqrt(p * (1 - p)), c.asked}
		}
		e.Deviation = max(e.Deviation, math.Sqrt(p*(1-p)/float64(c.asked)))
	}
	return e
}

// Grid is what a sweep or a race found.
type Grid struct {
	Name, Title string // of its table
	Dims        []Dim
	Notes       []string

	columns  []string // metrics and formulas, in order
	formulas []Formula
	cells    []Cell
}

// cell returns the cell of a metric at a point of the grid.
func (g *Grid) cell(metric string, at At) (Cell, bool) {
	i := slices.IndexFunc(g.cells, func(c Cell) bool { return c.Metric == metric && slices.Equal(c.At.place, at.place) })
	if i < 0 {
		return Cell{}, false
	}
	return g.cells[i], true
}

// table writes all cells, one row for each point that has any.
func (g *Grid) table() Table {
	t := Table{Name: g.Name, Title: g.Title, Notes: g.Notes}
	for _, d := range g.Dims {
		t.Columns = append(t.Columns, d.Name)
	}
	t.Columns = append(t.Columns, g.columns...)
	for _, at := range points(g.Dims) {
		var row []string
		for i, d := range g.Dims {
			row = append(row, d.text(at.place[i]))
		}
		empty := true
		for _, metric := range g.columns {
			text := ""
			if c, ok := g.cell(metric, at); ok {
				text, empty = c.String(), false
			}
			row = append(row, text)
		}
		if !empty {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
