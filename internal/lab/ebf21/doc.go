// Package ebf21 holds the experiments on [EBF21], the Elastic Bloom filter.
//
// Of the figures only what the text says about them is at hand: which filter is best, and
// from where on. These sentences are the claims; the curves are drawn beside them. Where a
// sentence does not hold, the reason is what the authors' program does, which was run for that:
// see docs/papers/ebf21.md.
//
//	EBF        filter/elastic, as in Table 1
//	standard   filter/bloom
//	DBF        filter/dynamic, counting units. In comparisons of speed all units together
//	           have the rate of the others, as in the authors' program
//	SBF        the scalable filter that the paper cites, see doublingFilter
//	Par-BF     filter/dynamic's Parallel
//
// "Distinct Stream" is random keys. In place of the CAIDA trace, which is not ours to ship,
// stands in Fig. 6 a seeded one with flow sizes as uneven as those of real traffic, see
// makeTrace. Elsewhere repeated packets change nothing, and flows are added once each.
//
// [EBF21]: docs/papers/ebf21.md
package ebf21

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them in the order of the paper.
func Experiments() []lab.Experiment {
	return lab.OfPaper("[EBF21]", uses, operations, formulas, slowfile, expansions, fig3, fig4, fig5, fig6, fig7, fig8b, fig9)
}
