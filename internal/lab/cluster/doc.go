// Package cluster holds the experiment on servers that share logs. One machine cannot run
// hundreds of them: a model takes the costs of single operations, which a full run
// measures on servers that it starts, and computes the rest. What it says about one server
// and about three is compared with those.
package cluster

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them.
func Experiments() []lab.Experiment { return []lab.Experiment{scale} }
