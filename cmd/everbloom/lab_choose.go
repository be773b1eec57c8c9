package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/internal/lab"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// choose returns the experiments that the patterns match, all if there is none.
func (e *env) choose(patterns []string) ([]lab.Experiment, error) {
	if len(patterns) == 0 {
		return e.experiments, nil
	}
	chosen, err := lab.Select(e.experiments, patterns...)
	if err == nil {
		return chosen, nil
	}
	for _, pattern := range patterns {
		if _, err := lab.Select(e.experiments, pattern); err != nil {
			return nil, fmt.Errorf("%s: %s", fault.Text(err), e.guess(pattern))
		}
	}
	return nil, err
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
