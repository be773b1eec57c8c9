package partition_test

import (
	"fmt"
	"testing"

	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func BenchmarkFilter(b *testing.B) { filtertest.Benchmark(b, hashed, ids) }

// BenchmarkUnion unites two sets of so many ids each.
func BenchmarkUnion(b *testing.B) {
	for _, n := range []uint64{1000, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			one, other := evenly(b, 1, n), evenly(b, 2, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := one.PrepareUnion(other); err != nil {
					b.Fatal(err)
				}
			}
		})
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
