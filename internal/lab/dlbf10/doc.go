// Package dlbf10 holds the experiments on [DlBF10], the deletable Bloom filter: its
// figures, the numbers in its text, and small studies of the questions it leaves
// open.
//
// The paper simulates one configuration, m = 240 bits and k = 5, 2,000 times per
// set of parameters, with keys from a dictionary of about 145,000 words. So do
// fig3, fig4 and text. The dictionary is one of made-up words, or the real one if
// there is a data folder.
//
// The open questions ("Future work", Sec. V) are dynamics, adaptive and encodings; the
// power of choices is inpacket/goals. Where they need regions that the filter does not have, they take the
// collisions of every single cell from a filter with regions of one bit and lay
// other regions over them: see picture.
//
// [DlBF10]: docs/papers/dlbf10.md
package dlbf10

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them in the order of the document.
func Experiments() []lab.Experiment {
	return []lab.Experiment{fig1, fig2, r4, fig3, text, fig4, dynamics, adaptive, encodings}
}
