package partition_test

import (
	"fmt"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkAdd(b *testing.B)             { filtertest.BenchmarkAdd(b, hashed, ids) }
func BenchmarkAddBatch(b *testing.B)        { filtertest.BenchmarkAddBatch(b, hashed, ids) }
func BenchmarkMayContain(b *testing.B)      { filtertest.BenchmarkMayContain(b, hashed, ids) }
func BenchmarkMayContainBatch(b *testing.B) { filtertest.BenchmarkMayContainBatch(b, hashed, ids) }
func BenchmarkSnapshot(b *testing.B)        { filtertest.BenchmarkSnapshot(b, hashed, ids) }

// BenchmarkUnion unites two sets of so many ids each.
func BenchmarkUnion(b *testing.B) {
	for _, n := range []uint64{1000, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			one, other := evenly(b, 1, n), evenly(b, 2, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := partition.Union(one, other); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFigure2 is [DPBF19] Figure 2: queries of a partition filter, of a plain
// one, and of a list of units of the same size, for absent ids at a rate of 1e-4.
func BenchmarkFigure2(b *testing.B) {
	for _, n := range []uint64{10_000, 100_000, 1_000_000} {
		stream := filtertest.Stream{Seed: 1, Bits: 32}
		ours := evenly(b, 1, n)
		plain := filtertest.Make(b, bloom.New, bloom.Config{Items: n, FPR: 1e-4})
		plain.AddBatch(stream.Keys(n))
		for name, has := range map[string]func(filter.Key) bool{
			"partition": ours.MayContain, "bloom": plain.MayContain, "list": list(b, ours.Shape(), stream.Keys(n)),
		} {
			b.Run(fmt.Sprintf("kind=%s/n=%d", name, n), func(b *testing.B) {
				for i := uint64(0); b.Loop(); i++ {
					has(stream.Absent(i))
				}
			})
		}
	}
}

// evenly returns a filter of n ids.
func evenly(tb testing.TB, seed, n uint64) *partition.Filter {
	tb.Helper()
	f := filtertest.Make(tb, partition.New, partition.Config{FPR: 1e-4, Universe: 1 << 32})
	if _, _, err := f.AddBatch(filtertest.Stream{Seed: seed, Bits: 32}.Keys(n)); err != nil {
		tb.Fatal(err)
	}
	return f
}

// list returns the query of a dynamic Bloom filter: units one after the other.
func list(tb testing.TB, s partition.Shape, keys []filter.Key) func(filter.Key) bool {
	tb.Helper()
	var units []*bloom.Filter
	for len(keys) > 0 {
		unit := filtertest.Make(tb, bloom.Build, bloom.Shape{Bits: s.UnitBits, Hashes: s.Hashes})
		n := min(int(s.UnitIDs()), len(keys))
		unit.AddBatch(keys[:n])
		units, keys = append(units, unit), keys[n:]
	}
	return func(k filter.Key) bool {
		for _, unit := range units {
			if unit.MayContain(k) {
				return true
			}
		}
		return false
	}
}
