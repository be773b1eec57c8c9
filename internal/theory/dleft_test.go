package theory_test

import (
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// TestFluidLimitIsTable1 holds the right column of Table 1.
func TestFluidLimitIsTable1(t *testing.T) {
	got := theory.DLeftSteadyLoads(4, 6, 9)
	for i, want := range []float64{1, 0.9999, 0.9990, 0.9920, 0.9505, 0.7669, 0.2894, 0.0023} {
		if math.Abs(got[i]-want) > 5e-5 {
			t.Errorf("load >= %d: %.5f, want %.4f", i+1, got[i], want)
		}
	}
}

// TestFluidLimitKeepsTheKeys: the shares add up to the load, whatever happens.
func TestFluidLimitKeepsTheKeys(t *testing.T) {
	for _, d := range []int{1, 2, 5, 8} {
		for _, load := range []float64{0.1, 1, 6.75} {
			for name, x := range map[string][]float64{
				"inserted": theory.DLeftInsertLoads(d, load, 30), "steady": theory.DLeftSteadyLoads(d, load, 30),
			} {
				sum := 0.0
				for i, share := range x {
					sum += share
					if share < 0 || share > 1+1e-12 || i > 0 && share > x[i-1] {
						t.Errorf("d = %d, load %g, %s: share %g of load %d", d, load, name, share, i+1)
					}
				}
				if math.Abs(sum-load) > 1e-6*load {
					t.Errorf("d = %d, load %g, %s: the shares add up to %g", d, load, name, sum)
				}
			}
		}
	}
}

// TestOneSubtableIsPoisson has a known solution, the same with deletions.
func TestOneSubtableIsPoisson(t *testing.T) {
	const load = 3
	tail, term := 1.0, math.Exp(-load)
	inserted, steady := theory.DLeftInsertLoads(1, load, 12), theory.DLeftSteadyLoads(1, load, 12)
	for i := range inserted {
		tail -= term
		term *= load / float64(i+1)
		if math.Abs(inserted[i]-tail) > 1e-7 || math.Abs(steady[i]-tail) > 1e-7 {
			t.Errorf("load >= %d: %g and %g, want %g", i+1, inserted[i], steady[i], tail)
		}
	}
}

// TestSameSpaceComparison is [dlCBF06] Sec. 4: with c = (r+2)/3 both structures
// have the same size, and from r = 7 on the counting filter is worse.
func TestSameSpaceComparison(t *testing.T) {
	for r := 5; r <= 30; r++ {
		counting := math.Exp2(-math.Ln2 * float64(r+2) / 3)
		ratio := counting / theory.DLeftRateBound(4, 6, r)
		if (ratio > 1) != (r >= 7) {
			t.Errorf("r = %d: the counting filter has %g times the rate", r, ratio)
		}
		// The text says "over a factor of 100". Its own formulas give half of that,
		// and so does a whole number of hashes.
		if r == 14 && math.Abs(ratio-52.65) > 0.005 {
			t.Errorf("r = 14: the counting filter has %g times the rate", ratio)
		}
	}
	if ratio := theory.BloomFPR(16e8, 4, 3e8) / theory.DLeftRateBound(4, 6, 14); math.Abs(ratio-52.9) > 0.05 {
		t.Errorf("16/3 counters, 4 hashes: %g times the rate", ratio)
	}
}

// TestOverflowGrowsWithKeys holds what capacity planning builds upon. More keys than
// cells need no fluid: it would take for ever.
func TestOverflowGrowsWithKeys(t *testing.T) {
	effort.OneGoroutine(t)
	insert := func(n float64) float64 { return theory.DLeftInsertOverflow(4, 8, 2048, n) }
	steady := func(n float64) float64 { return theory.DLeftSteadyOverflow(4, 8, 2048, n, 1<<20) }
	last, lastSteady := 0.0, 0.0
	for n := 45_000.0; n <= 65_000; n += 6000 {
		p, q := insert(n), steady(n)
		if p < last || q < lastSteady || q > 1 {
			t.Errorf("%g keys: overflow %g after %g, with deletions %g after %g", n, p, last, q, lastSteady)
		}
		last, lastSteady = p, q
	}
	if p, q := insert(49_152), insert(58_473); p > 1e-100 || math.Abs(q-1e-3) > 5e-6 {
		t.Errorf("load 6: overflow %g, load 7.14: overflow %g", p, q)
	}
	for _, n := range []float64{100_000, 1 << 24, math.MaxUint64} {
		if insert(n) != 1 || steady(n) != 1 {
			t.Errorf("%g keys overflow with probability %g and %g", n, insert(n), steady(n))
		}
	}
}

func TestDLeftRateOfTinyFilters(t *testing.T) {
	if got := theory.DLeftRate(1, 1, 1); got != 1 {
		t.Errorf("one fingerprint, one key: rate %g", got)
	}
	if got := theory.DLeftRate(0, 1, 1); got != 0 {
		t.Errorf("one fingerprint, no key: rate %g", got)
	}
	// Fingerprints 1, 2, 3 of four, the first twice as likely: p² + q² + q².
	if got := theory.DLeftRate(1, 1, 2); math.Abs(got-0.375) > 1e-12 {
		t.Errorf("three fingerprints, one key: rate %g, want 0.375", got)
	}
}

// Right after the insertions keys are more even than for ever after: fewer find all
// buckets full. Many steps make the beginning not count.
func TestChurnBeginsWithEvenLoads(t *testing.T) {
	effort.OneGoroutine(t)
	steady := func(steps float64) float64 {
		return theory.DLeftSteadyOverflow(4, 8, 2048, 55_296, 1e-3) / 1e-3 * steps
	}
	churn := func(steps float64) float64 { return theory.DLeftChurnFull(4, 8, 2048, 55_296, steps) }
	if got, most := churn(10_000), 0.6*steady(10_000); got <= 0 || got > most {
		t.Errorf("%g keys in the first 10,000 steps, want less than %g", got, most)
	}
	if missing, later := steady(1<<20)-churn(1<<20), steady(1<<21)-churn(1<<21); math.Abs(missing-1.2) > 0.1 || math.Abs(later-missing) > 0.05 {
		t.Errorf("%g keys fewer than in the steady state after 2^20 steps, %g after twice as many", missing, later)
	}
}
