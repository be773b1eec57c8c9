// Package field holds the experiments that place this project's kinds in the field:
// beside what others have built, and under workloads that no paper of the five has.
package field

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them, the general one first.
func Experiments() []lab.Experiment {
	return []lab.Experiment{frontier, zipf, window, adversary, threads}
}
