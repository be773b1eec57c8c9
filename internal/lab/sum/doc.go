// Package sum holds the experiments on [Sum], the executive summary: its sizing
// formulas, what it argues about deletion, and its packet filter.
//
// [Sum]: docs/papers/sum.md
package sum

import "github.com/everbloom-go/everbloom/internal/lab"

// paper is the tag of the document.
const paper = "[Sum]"

// Experiments returns them in the order of the document.
func Experiments() []lab.Experiment {
	return []lab.Experiment{hashset, params, deletion, metflicks}
}
