package counting_test

import (
	"fmt"
	"testing"

	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T) {
	for i, s := range []filtertest.Subject{two, four, eight} {
		filtertest.Model(t, s, uint64(i), effort.Operations(t)/3)
	}
}

func FuzzModel(f *testing.F)    { filtertest.Fuzz(f, four) }
func FuzzModelOf2(f *testing.F) { filtertest.Fuzz(f, two) }

// TestAddAndDelete has filters from tiny to large, empty to far too full.
func TestAddAndDelete(t *testing.T) {
	cases := []struct {
		shape counting.Shape
		keys  int // at most in the set
	}{
		{counting.Shape{Counters: 1, Hashes: 1, CounterBits: 8}, 100},
		{counting.Shape{Counters: 32, Hashes: 3, CounterBits: 2}, 3},
		{counting.Shape{Counters: 32, Hashes: 3, CounterBits: 4}, 7},
		{counting.Shape{Counters: 32, Hashes: 3, CounterBits: 4}, 100},
		{counting.Shape{Counters: 32, Hashes: 3, CounterBits: 8}, 100},
		{counting.Shape{Counters: 33, Hashes: 64, CounterBits: 4}, 2},
		{counting.Shape{Counters: 240, Hashes: 5, CounterBits: 4}, 22},
		{counting.Shape{Counters: 9586, Hashes: 7, CounterBits: 2}, 1000},
		{counting.Shape{Counters: 9586, Hashes: 7, CounterBits: 4}, 1000},
		{counting.Shape{Counters: 9586, Hashes: 7, CounterBits: 8}, 50_000},
		{counting.Shape{Counters: 1 << 20, Hashes: 7, CounterBits: 4}, 100_000},
		{counting.Shape{Counters: 1 << 22, Hashes: 10, CounterBits: 4}, 300_000},
	}
	for i, c := range cases {
		t.Run(fmt.Sprintf("%+v", c.shape), func(t *testing.T) {
			f := build(t, c.shape)
			filtertest.AddAndDelete(t, f, func() error { return codec.Whole(f) }, c.keys, uint64(i), effort.Operations(t)/len(cases))
		})
	}
}

// TestInvariantsHoldThroughAnything has odd shapes of all widths.
func TestInvariantsHoldThroughAnything(t *testing.T) {
	for _, s := range []counting.Shape{
		{Counters: 1, Hashes: 1, CounterBits: 2},
		{Counters: 33, Hashes: 3, CounterBits: 2},
		{Counters: 65, Hashes: 3, CounterBits: 4},
		{Counters: 1000, Hashes: 4, CounterBits: 8},
		{Counters: 127, Hashes: 64, CounterBits: 4},
	} {
		filtertest.Invariants(t, s.Counters, 600, func() *counting.Filter { return build(t, s) }, codec.Whole)
	}
}
