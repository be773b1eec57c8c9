// Package compare holds the experiments in which all kinds take part. What they
// check is what the README says of the kinds and which it advises to take.
//
// docs/claims.md leads from each claim to the experiment that shows it.
package compare

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them, the general one first.
func Experiments() []lab.Experiment {
	return []lab.Experiment{compare, abilities, growing}
}
