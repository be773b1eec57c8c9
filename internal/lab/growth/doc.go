// Package growth holds the experiments on this project's own kinds, filter/evergreen and
// filter/perennial. No paper prints anything about them: the claims are those of their
// package comments, of the README and of docs/design. docs/claims.md lists them.
package growth

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them, the general ones first.
func Experiments() []lab.Experiment {
	return []lab.Experiment{size, shrink, asked, compact, pauses, readers, perennialSize, perennialShrink, churn}
}

// What several experiments check.
const (
	keeps   = "keeps the rate it was asked for at every size"
	found   = "a key that is in the set is always found"
	comment = "package comment"
)
