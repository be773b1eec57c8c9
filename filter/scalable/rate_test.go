package scalable_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// TestSingleFiltersKeepTheRate grows many small filters and computes the rate of each
// from its bits, on the way. With units of their expected rate and no more, 1 in 20
// that begin with 100 keys would pass 1e-4, one by a factor of 4.
func TestSingleFiltersKeepTheRate(t *testing.T) {
	effort.PlainOnly(t)
	filters := uint64(300)
	if effort.Brief() {
		filters = 9
	}
	for _, c := range []struct {
		items, keys, filters uint64
	}{
		{1, 1000, filters / 3},
		{100, 4000, filters},
		{1000, 4000, filters},
		{100, 100_000, max(1, filters/30)},
	} {
		for _, rate := range []float64{1e-3, 1e-4} {
			worst := 0.0
			for seed := range c.filters {
				f := filtertest.Make(t, scalable.New, scalable.Config{Items: c.items, FPR: rate, Salt: seed})
				if got := highest(t, f, seed, c.keys); got > rate {
					t.Errorf("seed %d: asked %g, %d keys in the first unit, up to %d: rate %g", seed, rate, c.items, c.keys, got)
				} else {
					worst = max(worst, got)
				}
			}
			t.Logf("asked %g, %4d keys in the first unit, up to %6d: %d filters, the highest rate is %.3g", rate, c.items, c.keys, c.filters, worst)
		}
	}
}

// highest returns the highest rate that f has on its way to n keys, seen whenever it
// has a quarter more.
func highest(t *testing.T, f *scalable.Filter, seed, n uint64) (rate float64) {
	t.Helper()
	for k := uint64(0); k < n; {
		more := min(10+k/4, n-k)
		if _, _, err := f.AddBatch(keysFrom(filtertest.Stream{Seed: seed}, k, more)); err != nil {
			t.Fatal(err)
		}
		k += more
		rate = max(rate, f.TrueRate())
	}
	return rate
}

// TestTrueRateIsMeasured holds the computed rate against queries.
func TestTrueRateIsMeasured(t *testing.T) {
	const probes = 500_000
	f := filtertest.Make(t, scalable.New, scalable.Config{Items: 100, FPR: 0.1})
	s := filtertest.Stream{Seed: 1}
	f.AddBatch(keysFrom(s, 0, 1000))
	low, high := theory.BinomialInterval(probes, f.TrueRate(), 4)
	if hits := float64(filtertest.MeasureRate(f, s, probes)); hits < low || hits > high {
		t.Errorf("%g yeses of %d, want %g to %g", hits, probes, low, high)
	}
}
