package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/internal/draw"
	"github.com/everbloom-go/everbloom/internal/fault"
)

// An Experiment finds something out.
type Experiment struct {
	ID       string // "dlbf10/fig3": document or topic, slash, name
	Paper    string // the tag used in docs/papers, "[DlBF10]", see [OfPaper]; empty for our own
	Title    string
	Question string // what it finds out, in one sentence
	Says     string // what the paper prints or claims, and where

	// Params are those of a quick run, which takes seconds, and of a full one, which is what
	// the paper did: Int("trials", 60).Full(2_000).
	Params Params

	// Data are the files that it can use of a folder with real data: names or globs
	// with slashes, such as "ip/list.txt.gz". It must do without, too.
	Data []string

	// Run must watch ctx; Trials does. It gives up with an error if the question
	// could not be answered, not if the answer is other than the paper's.
	Run func(ctx context.Context, e *Env) (*Result, error)

	// Plots and Claims take their numbers from the grids of the result.
	Plots  []View
	Claims []Claim
}

// OfPaper gives experiments their paper.
func OfPaper(tag string, list ...Experiment) []Experiment {
	for i := range list {
		list[i].Paper = tag
	}
	return list
}

// NameForm is that of both parts of an identifier and of plots and tables, which
// become file names and anchors.
var NameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// Topic is the part of the identifier before the slash.
func (x Experiment) Topic() string {
	topic, _, _ := strings.Cut(x.ID, "/")
	return topic
}

// Kind is that of claims that do not say.
func (x Experiment) Kind() Kind {
	if x.Paper == "" {
		return Own
	}
	return Paper
}

// Do runs the experiment and checks what it returns. A folder with data that has
// no file of x.Data is taken out of e; a note of the result says so.
func (x Experiment) Do(ctx context.Context, e *Env) (*Result, error) {
	missing := x.takeData(e)
	result, err := x.Run(ctx, e)
	if err == nil && result == nil {
		err = errors.New("no result")
	}
	if err == nil {
		err = x.finish(result, e)
	}
	if err == nil {
		err = result.Check()
	}
	if err != nil {
		return nil, fault.In("lab", "%s: %w", x.ID, err)
	}
	if missing != "" {
		result.Notes = append(result.Notes, missing)
	}
	return result, nil
}

// finish makes tables, plots and checks of what was found.
func (x Experiment) finish(r *Result, e *Env) error {
	found := findings(r.Grids)
	var problems []error
	for _, g := range r.Grids {
		if g.Name != "" {
			r.Tables = append(r.Tables, g.table())
		}
	}
	for _, v := range x.Plots {
		p, err := found.plot(v)
		problems = append(problems, err)
		r.Plots = append(r.Plots, p)
	}
	for _, c := range x.Claims {
		check, err := found.judge(c, e)
		problems = append(problems, err)
		r.Checks = append(r.Checks, check)
	}
	for i := range r.Checks {
		if r.Checks[i].Kind == "" {
			r.Checks[i].Kind = x.Kind()
		}
	}
	return errors.Join(problems...)
}

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

func (s Sweep) find(ctx context.Context, e *Env, r *Result) error { return r.take(s.Run(ctx, e)) }
func (c Race) find(ctx context.Context, e *Env, r *Result) error  { return r.take(c.Run(ctx, e)) }
func (g *Grid) find(_ context.Context, _ *Env, r *Result) error   { return r.take(g, nil) }

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
