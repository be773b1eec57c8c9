// Package perennial holds the experiments on filter/perennial. No paper prints anything
// about it: they check what its package comment and docs/design/0009-perennial.md promise.
package perennial

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them, the general ones first.
func Experiments() []lab.Experiment { return []lab.Experiment{size, shrink, churn, pauses, readers} }
