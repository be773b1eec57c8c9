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
	if i := int(v); len(d.Names) > 0 && i >= 0 && i < len(d.Names) {
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

func (a At) find(name string) (dim Dim, value float64, ok bool) {
	i := slices.IndexFunc(a.dims, func(d Dim) bool { return d.Name == name })
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
	v := a.Float(name)
	dim, _, _ := a.find(name)
	return dim.text(v)
}

func (a At) String() string {
	parts := make([]string, len(a.dims))
	for i, d := range a.dims {
		parts[i] = d.label(a.place[i])
	}
	return strings.Join(parts, ", ")
}

// with returns the point with another value for one dimension.
func (a At) with(name string, value float64) At {
	out := At{a.dims, slices.Clone(a.place)}
	for i, d := range a.dims {
		if d.Name == name {
			out.place[i] = value
		}
	}
	return out
}

// Unit is what a metric is measured in; it decides how numbers are written.
type Unit string

// The units with a form of their own.
const (
	Plain     Unit = ""  // a number without a unit
	InPercent Unit = "%" // of a share: 0.8 is written 80 %
)

// write gives a number enough digits to see differences of the given size.
func (u Unit) write(v, size float64) string {
	switch u {
	case InPercent:
		return digitsFor(100*v, 100*size) + " %"
	case Plain:
		return digitsFor(v, size)
	}
	return digitsFor(v, size) + " " + string(u)
}

// estimate writes a mean with twice its standard error.
func (u Unit) estimate(e Estimate) string {
	if e.Deviation == 0 {
		return u.write(e.Mean, math.Abs(e.Mean)/20)
	}
	if u == InPercent {
		return Estimate{100 * e.Mean, 100 * e.Deviation, e.N}.String() + " %"
	}
	return strings.TrimSpace(e.String() + " " + string(u))
}

// Cell is what was found of one metric at one point.
type Cell struct {
	At     At
	Metric string
	Unit   Unit
	Value  Estimate // without trials if a formula gave it

	samples []float64 // of a race, round by round
	asked   int       // answers of one trial, see Metric.Asked
	trials  int       // of a share, whose answers may count in their place
}

func (c Cell) String() string { return c.Unit.estimate(c.Value) }

// Grid is what a sweep or a race found.
type Grid struct {
	Name, Title string // of its table
	Dims        []Dim
	Notes       []string

	columns  []string // metrics and formulas, in order
	formulas []Formula
	cells    []Cell
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

// cell returns the cell of a metric at a point. Dimensions that the grid does not
// have are ignored.
func (g *Grid) cell(metric string, at At) (Cell, bool) {
	for _, c := range g.cells {
		if c.Metric != metric {
			continue
		}
		same := true
		for i, d := range g.Dims {
			_, v, ok := at.find(d.Name)
			same = same && ok && v == c.At.place[i]
		}
		if same {
			return c, true
		}
	}
	return Cell{}, false
}

// table writes all cells, one row for each point.
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
			c, ok := g.cell(metric, at)
			if !ok {
				row = append(row, "")
				continue
			}
			row = append(row, c.String())
			empty = false
		}
		if !empty {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
