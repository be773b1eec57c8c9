package lab

import (
	"context"
	"errors"
	"path"
	"regexp"
	"strings"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// An Experiment finds something out.
type Experiment struct {
	ID       string // "dlbf10/fig3": document or topic, slash, name
	Paper    string // the tag used in docs/papers, "[DlBF10]"; empty for our own
	Title    string
	Question string // what it finds out, in one sentence
	Says     string // what the paper prints or claims, and where

	// Quick takes seconds, Full is what the paper did. They have the same names in
	// the same order.
	Quick, Full Params

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

// idForm is strict because identifiers become file names and anchors.
var idForm = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9][a-z0-9-]*$`)

// Check reports everything that is wrong with the description of an experiment.
func (x Experiment) Check() error {
	var problems []error
	add := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fault.In("lab", "experiment %q: "+format, append([]any{x.ID}, args...)...))
		}
	}
	add(!idForm.MatchString(x.ID), "the identifier must be of the form topic/name in lower case")
	add(x.Title == "", "no title")
	add(x.Question == "", "no question")
	add(x.Paper != "" && x.Says == "", "it repeats %s but does not tell what that says", x.Paper)
	add(x.Run == nil, "nothing to run")
	for _, err := range []error{x.checkData(), sameForm(x.Quick, x.Full)} {
		add(err != nil, "%w", err)
	}
	return errors.Join(problems...)
}

// Params returns the parameters of a quick or a full run.
func (x Experiment) Params(full bool) Params {
	if full {
		return x.Full
	}
	return x.Quick
}

// Topic is the part of the identifier before the slash.
func (x Experiment) Topic() string {
	topic, _, _ := strings.Cut(x.ID, "/")
	return topic
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

// Select returns the experiments that at least one pattern matches, in the order
// of the list. A pattern is an identifier, a glob such as "ebf21/*", a topic, or
// "all". A pattern that matches nothing is an error.
func Select(list []Experiment, patterns ...string) ([]Experiment, error) {
	matched := make([]bool, len(patterns))
	var chosen []Experiment
	for _, x := range list {
		wanted := false
		for i, pattern := range patterns {
			ok, err := x.matches(pattern)
			if err != nil {
				return nil, err
			}
			matched[i] = matched[i] || ok
			wanted = wanted || ok
		}
		if wanted {
			chosen = append(chosen, x)
		}
	}
	for i, ok := range matched {
		if !ok {
			return nil, fault.In("lab", "no experiment matches %q", patterns[i])
		}
	}
	return chosen, nil
}

func (x Experiment) matches(pattern string) (bool, error) {
	if pattern == "all" || pattern == x.Topic() {
		return true, nil
	}
	ok, err := path.Match(pattern, x.ID)
	if err != nil {
		return false, fault.In("lab", "pattern %q: %w", pattern, err)
	}
	return ok, nil
}
