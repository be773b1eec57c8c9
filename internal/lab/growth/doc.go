// Package growth holds the experiments on kinds that grow: this project's own,
// filter/evergreen and filter/perennial, and the others beside them. No paper prints
// anything about them: the claims are those of package comments, of the README and of
// docs/design. docs/claims.md lists them.
package growth

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them, the general ones first.
func Experiments() []lab.Experiment {
	return []lab.Experiment{size, asked, pauses, readers, perennialSize, perennialPauses, all}
}

// What several experiments check.
const (
	keeps   = "keeps the rate it was asked for at every size"
	found   = "a key that is in the set is always found"
	comment = "package comment"
)
