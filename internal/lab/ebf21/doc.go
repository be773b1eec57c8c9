// Package ebf21 holds the experiments on [EBF21], the Elastic Bloom filter: its
// Figures 3 to 9, Table 1 and the numbers of its text.
//
// The text prints few numbers, and of the figures only what it says about them is
// at hand: which filter is best, and from where on. These claims are what is
// checked; the curves are drawn beside them.
//
// # What is compared
//
//	EBF            filter/elastic, as in Table 1
//	standard       filter/bloom
//	DBF            filter/dynamic, counting units where keys are deleted
//	SBF            the scalable filter that the paper cites, see doublingFilter
//	scalable       filter/scalable, whose units have falling rates
//	Par-BF         filter/dynamic's Parallel
//	CBF            filter/counting
//
// # Traces
//
// "Distinct Stream" is random keys. In place of the CAIDA trace, which is not ours
// to ship, stands a seeded one with flow sizes as uneven as those of real traffic,
// see trace; with a folder of captures these are used. The trace of data centres
// appears in no figure.
//
// Experiments that measure times let the contenders take turns and compare them
// with each other. They say so, and their differences are explained by what was
// seen on one machine: another may differ.
//
// [EBF21]: docs/papers/ebf21.md
package ebf21

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them in the order of the paper.
func Experiments() []lab.Experiment {
	return []lab.Experiment{
		operations, formulas, theorem42, table1,
		fig3, fig4, fig5, fig6, fig7, fig8a, fig8b, fig9a, fig9b,
	}
}
