package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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

// Part is what makes a part of a result: a [Sweep], a [Race], a [Grid], [Computed]
// numbers or [Notes].
type Part interface {
	find(ctx context.Context, e *Env, r *Result) error
}

// Find makes a result of its parts, one after the other.
func Find(ctx context.Context, e *Env, parts ...Part) (*Result, error) {
	r := &Result{}
	for _, p := range parts {
		if err := cmp.Or(ctx.Err(), p.find(ctx, e, r)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Result) take(g *Grid, err error) error {
	if err == nil {
		r.Grids = append(r.Grids, g)
	}
	return err
}

func (s Sweep[T]) find(ctx context.Context, e *Env, r *Result) error { return r.take(s.Run(ctx, e)) }
func (c Race) find(ctx context.Context, e *Env, r *Result) error     { return r.take(c.Run(ctx, e)) }
func (g *Grid) find(_ context.Context, _ *Env, r *Result) error      { return r.take(g, nil) }

// Notes stand below all tables and plots.
type Notes []string

func (n Notes) find(_ context.Context, _ *Env, r *Result) error {
	r.Notes = append(r.Notes, n...)
	return nil
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

// Unexpected returns the checks that differ without an explanation.
func (r *Result) Unexpected() []Check {
	return slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return !c.Unexpected() })
}

// Check reports everything that would make the result unreadable.
func (r *Result) Check() error {
	var problems []error
	names := map[string]bool{"result": true, "checks": true} // taken
	take := func(name string) {
		if names[name] || !NameForm.MatchString(name) {
			problems = append(problems, fmt.Errorf("name %q: it is taken or not of the form a-z0-9-", name))
		}
		names[name] = true
	}
	for _, p := range r.Plots {
		take(p.Name)
		problems = append(problems, p.Check())
	}
	for _, t := range r.Tables {
		take(t.Name)
		for i, row := range t.Rows {
			if len(row) != len(t.Columns) {
				problems = append(problems, fmt.Errorf("table %q: row %d has %d cells for %d columns", t.Name, i, len(row), len(t.Columns)))
			}
		}
	}
	if len(r.Plots)+len(r.Tables)+len(r.Checks) == 0 {
		problems = append(problems, errors.New("an empty result"))
	}
	return errors.Join(problems...)
}
