package bloom_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T)        { filtertest.Model(t, classic, 1, effort.Operations(t)) }
func TestBlockedModel(t *testing.T) { filtertest.Model(t, blocked, 2, effort.Operations(t)) }

func FuzzModel(f *testing.F)        { filtertest.Fuzz(f, classic) }
func FuzzBlockedModel(f *testing.F) { filtertest.Fuzz(f, blocked) }

// TestInvariantsHoldThroughAnything has odd shapes.
func TestInvariantsHoldThroughAnything(t *testing.T) {
	for _, s := range []bloom.Shape{{Bits: 1, Hashes: 1}, {Bits: 65, Hashes: 3}, {Bits: 1000, Hashes: 4}, {Bits: 127, Hashes: 64}} {
		filtertest.Invariants(t, s.Bits, 300, func() *bloom.Filter { return filtertest.Make(t, bloom.Build, s) }, codec.Whole)
	}
	for _, s := range []bloom.BlockedShape{{Blocks: 1, Hashes: 8}, {Blocks: 3, Hashes: 16}} {
		filtertest.Invariants(t, s.Blocks, 300, func() *bloom.Blocked { return filtertest.Make(t, bloom.BuildBlocked, s) }, blockedCodec.Whole)
	}
}
