// Package dpbf19 holds the experiments on [DPBF19], the dynamic partition Bloom
// filter: its figures, its theorem about lists of filters, its space, and what
// unions and intersections do.
//
// The filter is the paper's own layout. filter/partition, which keeps ids in place of
// the paper's map of unit filters, has the same tree: it stands in where the layout does
// not fit into memory, to count units.
//
// [DPBF19]: docs/papers/dpbf19.md
package dpbf19

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them in the order of the document.
func Experiments() []lab.Experiment {
	return lab.OfPaper("[DPBF19]", fig1, fig2, fig345, space, merges, theorem)
}
