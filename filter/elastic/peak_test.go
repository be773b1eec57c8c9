package elastic_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// The setting of Figs. 5 and 6 of [EBF21]: all filters begin with room for a
// relative peak data size of 1 and get more keys than that.
const (
	peakUnit   = 1 << 14 // keys of relative peak data size 1
	peakBits   = 1 << 18
	peakHashes = 5
	peakRate   = 3.2e-4 // the threshold 0.2 to the 5th
)

var peakSizes = []uint64{1, 2, 4, 8, 16, 32, 64}

// equalRate returns how many positions of a unit of a dynamic filter may be set so
// that all units together have the rate of the others when there are n keys.
func equalRate(n float64) uint64 {
	fill := 0.2
	for range 100 {
		units := math.Max(1, math.Ceil(n*peakHashes/(-math.Log1p(-fill)*peakBits)))
		fill = (fill + math.Pow(peakRate/units, 1.0/peakHashes)) / 2
	}
	return uint64(fill * peakBits)
}

// peers returns the kinds of the comparison with n keys in each.
func peers(b *testing.B, n uint64) (names []string, filters []filter.Filter) {
	b.Helper()
	e := filtertest.Make(b, elastic.Build, elastic.Shape{
		Bits: peakBits, Hashes: peakHashes, HashBits: 44, Slots: 8, Branches: 3, Growth: 9, Threshold: 0.2,
	})
	d := filtertest.Make(b, dynamic.Build, dynamic.Shape{Positions: peakBits, Hashes: peakHashes, CounterBits: 4, Full: equalRate(float64(n))})
	s := filtertest.Make(b, scalable.New, scalable.Config{Items: peakUnit, FPR: peakRate})
	filters = []filter.Filter{e, d, s}
	for _, f := range filters {
		if done, _, err := filter.AddBatch(f, filtertest.Stream{}.Keys(n)); err != nil {
			b.Fatalf("key %d of %d: %v", done, n, err)
		}
	}
	e.FinishResize()
	return []string{"elastic", "dynamic", "scalable"}, filters
}

// BenchmarkPeakQueries is Fig. 5: queries of present and absent keys, the kinds
// taking turns, by relative peak data size.
func BenchmarkPeakQueries(b *testing.B) {
	for _, rpds := range peakSizes {
		n := rpds * peakUnit
		b.Run(fmt.Sprintf("rpds=%d", rpds), func(b *testing.B) {
			names, filters := peers(b, n)
			order := rand.New(rand.NewPCG(1, n))
			keys := make([]filter.Key, benchStride)
			took := make(strides)
			for b.Loop() {
				for _, kind := range []string{"present", "absent"} {
					draw(keys, kind, n, order)
					for i, f := range filters {
						took.time(names[i]+"-"+kind, func() { askAll(f, keys) })
					}
				}
			}
			took.report(b, "median", median)
		})
	}
}

// askAll asks for the keys one by one.
func askAll(f filter.Filter, keys []filter.Key) {
	for _, k := range keys {
		f.MayContain(k)
	}
}

// BenchmarkPeakDeletes is the deletion of Figs. 5 and 6: all keys are deleted, in
// no order, elastic and dynamic filters taking turns.
func BenchmarkPeakDeletes(b *testing.B) {
	for _, rpds := range peakSizes {
		n := rpds * peakUnit
		b.Run(fmt.Sprintf("rpds=%d", rpds), func(b *testing.B) {
			took := make(strides)
			for round := range b.N {
				names, filters := peers(b, n)
				keys := filtertest.Stream{}.Keys(n)
				rand.New(rand.NewPCG(2, uint64(round))).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				for ; len(keys) > 0; keys = keys[benchStride:] {
					for i, f := range filters[:2] {
						took.time(names[i], func() { deleteAll(f, keys[:benchStride]) })
					}
				}
			}
			took.report(b, "mean", mean)
			took.report(b, "median", median)
		})
	}
}

// deleteAll deletes the keys one by one. A dynamic filter refuses those that two of
// its units claim.
func deleteAll(f filter.Filter, keys []filter.Key) {
	for _, k := range keys {
		_ = filter.Delete(f, k)
	}
}
