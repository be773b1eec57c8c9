//go:build amd64 && !purego

package dleft

import "github.com/everbloom-go/everbloom/filter"

// quickHas is hasShort with the instructions that every amd64 processor has. It
// takes two thirds of the instructions, so that the processor looks further ahead
// and more cache misses overlap.
//
//go:noescape
func quickHas(q *quick, k filter.Key) bool

func (c *store) mayContainShort(k filter.Key) bool { return quickHas(&c.quick, k) }
