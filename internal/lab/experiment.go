package lab

import (
	"context"
	"errors"
	"regexp"
	"strings"

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
