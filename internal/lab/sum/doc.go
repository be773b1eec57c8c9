// Package sum holds the experiments on [Sum], the executive summary: its sizing
// formulas, what it argues about deletion, and its packet filter.
//
// [Sum]: docs/papers/sum.md
package sum

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them in the order of the document.
func Experiments() []lab.Experiment {
	return lab.OfPaper("[Sum]", hashset, params, deletion, metflicks)
}
