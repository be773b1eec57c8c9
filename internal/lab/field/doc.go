// Package field holds the experiments that place this project's kinds in the field:
// beside each other and what others have built, and under workloads that no paper of the
// five has. docs/claims.md leads from each claim to the experiment that shows it.
package field

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them, the general one first.
func Experiments() []lab.Experiment {
	return []lab.Experiment{frontier, abilities, zipf, window, adversary, threads}
}

// What several experiments check, and where it is stated.
const (
	found = "a key that is in the set is always found"
	page  = "docs/choosing.md"
)
