package main

import (
	"fmt"
	"slices"
	"strings"

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

// guess says what may have been meant: names that differ in two letters, or
// identifiers that have the pattern in them.
func (e *env) guess(pattern string) string {
	var near []string
	for _, x := range e.experiments {
		for _, name := range []string{x.Topic(), x.ID} {
			if !slices.Contains(near, name) && (distance(pattern, name) <= 2 || name == x.ID && strings.Contains(name, pattern)) {
				near = append(near, name)
			}
		}
	}
	if len(near) == 0 || len(near) > 5 {
		return "everbloom lab list shows all"
	}
	return "did you mean " + strings.Join(near, " or ") + "?"
}

// distance is the number of letters to add, drop or change to come from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from what was read of a to the first letters of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := before
			if a[i] != b[j] {
				changed++
			}
			before = row[j+1]
			row[j+1] = min(changed, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
