package elastic

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestInvariantsHoldThroughAnything(t *testing.T) {
	for i, s := range []Shape{
		{Bits: 16, Hashes: 3, HashBits: 40, Slots: 2, Branches: 3, Growth: 6, Threshold: 0.5},
		{Bits: 64, Hashes: 4, HashBits: 40, Slots: 4, Branches: 1, Growth: 4, Threshold: 0.4},
		{Bits: 32, Hashes: 5, HashBits: 40, Slots: 1, Branches: 7, Growth: 5, Threshold: 0.6},
		{Bits: 1, Hashes: 2, HashBits: 40, Slots: 3, Branches: 2, Growth: 8, Threshold: 0.7},
	} {
		build := func() *Filter {
			f := build1(t, s)
			f.pace = 1 // so that lazy phases last
			return f
		}
		filtertest.Invariants(t, uint64(i), scale(1000), build, (*Filter).check)
	}
}
