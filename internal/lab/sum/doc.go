// Package sum holds the experiments on [Sum], the executive summary: its sizing
// formulas and what it argues about deletion.
//
// [Sum]: docs/papers/sum.md
package sum

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them in the order of the document.
func Experiments() []lab.Experiment {
	return []lab.Experiment{hashset, params, seeds, deletion}
}
