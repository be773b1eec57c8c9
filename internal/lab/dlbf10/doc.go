// Package dlbf10 holds the experiments on [DlBF10], the deletable Bloom filter: its
// figures, the numbers in its text, and small studies of the questions it leaves open
// ("Future work", Sec. V): dynamics and codes; the power of choices is inpacket/goals.
//
// The paper simulates one configuration, m = 240 bits and k = 5, 2,000 times per set of
// parameters, with keys from a dictionary of about 145,000 words. So do fig3 and text. The
// dictionary is one of made-up words, or the real one if there is a data folder.
//
// [DlBF10]: docs/papers/dlbf10.md
package dlbf10

import "github.com/everbloom-go/everbloom/internal/lab"

// paper is the tag of the document.
const paper = "[DlBF10]"

// Experiments returns them in the order of the document.
func Experiments() []lab.Experiment {
	return []lab.Experiment{fig2, r4, fig3, text, dynamics, codes}
}
