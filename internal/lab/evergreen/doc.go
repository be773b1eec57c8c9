// Package evergreen holds the experiments on our own kind, filter/evergreen. No
// paper prints anything about it: what they check is what its package comment, the
// README and docs/design/0004-evergreen.md promise.
//
// docs/claims.md leads from each promise to the experiment that shows it.
package evergreen

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them, the general ones first.
func Experiments() []lab.Experiment {
	return []lab.Experiment{size, shrink, asked, compact, pauses, readers, replay}
}

// What several experiments check.
const (
	keeps   = "keeps the rate it was asked for at every size"
	found   = "a key that is in the set is always found"
	comment = "package comment"
)
