// Package dlcbf06 holds the experiments on [dlCBF06], the d-left counting Bloom
// filter: Table 1, overflow and how moving keys avoids it, the comparison with a
// counting filter, and the figures of its Sections 2 to 4.
//
// [dlCBF06]: docs/papers/dlcbf06.md
package dlcbf06

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them in the order of the document.
func Experiments() []lab.Experiment {
	return lab.OfPaper("[dlCBF06]", worked, construction, table1, cbf, overflow)
}
