// Package dlbf10 holds the experiments on [DlBF10], the deletable Bloom filter: its
// figures, the numbers in its text, and two of the questions that Sec. V leaves open,
// dynamics and codes. The third, the power of choices, is in inpacket/trees.
//
// The paper simulates m = 240 bits and k = 5, 2,000 times per set of parameters, with keys
// from a dictionary of about 145,000 words. So does fig3, with made-up words.
//
// [DlBF10]: docs/papers/dlbf10.md
package dlbf10

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them in the order of the document.
func Experiments() []lab.Experiment {
	return lab.OfPaper("[DlBF10]", fig2, fig3, dynamics, codes)
}
