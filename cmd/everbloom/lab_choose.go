package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// choose returns the experiments that at least one pattern matches, in the order of the
// list; all if there is no pattern. One is an identifier, a glob such as "ebf21/*", a
// topic, or "all". A pattern that matches nothing is an error.
func (e *env) choose(patterns []string) (chosen []lab.Experiment, err error) {
	if len(patterns) == 0 {
		return e.experiments, nil
	}
	wanted := make([]bool, len(e.experiments))
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("pattern %q: %w: %s", pattern, err, e.guess(pattern))
		}
		found := false
		for i, x := range e.experiments {
			if ok, _ := path.Match(pattern, x.ID); ok || pattern == "all" || pattern == x.Topic() {
				wanted[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("no experiment matches %q: %s", pattern, e.guess(pattern))
		}
	}
	for i, x := range e.experiments {
		if wanted[i] {
			chosen = append(chosen, x)
		}
	}
	return chosen, nil
}

// guess says what may have been meant: names that cobra would guess if they were verbs,
// or identifiers that have the pattern in them.
func (e *env) guess(pattern string) string {
	var near []string
	for _, x := range e.experiments {
		for _, name := range []string{x.Topic(), x.ID} {
			guess := cobra.Command{SuggestionsMinimumDistance: 2}
			guess.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
			similar := len(guess.SuggestionsFor(pattern)) > 0 || name == x.ID && strings.Contains(name, pattern)
			if similar && !slices.Contains(near, name) {
				near = append(near, name)
			}
		}
	}
	if len(near) == 0 || len(near) > 5 {
		return "everbloom lab list shows all"
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}
