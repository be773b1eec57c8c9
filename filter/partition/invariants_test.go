package partition

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// smallShapes split early, in several ways.
var smallShapes = []Shape{
	example(),
	{Universe: 1000, IDBits: 10, Depth: 10, UnitBits: 64, Hashes: 1, Full: 16},
	{Universe: 1, UnitBits: 1, Hashes: 1, Full: 1},
	{IDBits: 64, Depth: 60, UnitBits: 70, Hashes: 3, Full: 20, Salt: 5},
	{IDBits: 20, Depth: 12, UnitBits: 100, Hashes: 4, Full: 100, Count: 2},
	{IDBits: 9, Depth: 9, UnitBits: 16, Hashes: 9, Full: 4}, // one id is too much already
}

func TestInvariantsHoldThroughAnything(t *testing.T) {
	for i, s := range smallShapes {
		filtertest.Invariants(t, uint64(i), 150, func() *Filter { return build(t, s) }, (*Filter).check)
	}
}
