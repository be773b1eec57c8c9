package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// nearly is near with a tolerance in proportion to the value.
func nearly(t *testing.T, where string, got, want, tolerance float64) {
	t.Helper()
	near(t, where, got, want, tolerance*math.Abs(want))
}

// TestSigns pins two formulas of Sec. 4.3 that are printed with the wrong sign.
func TestSigns(t *testing.T) {
	const n, f, k = 1e6, 0.01, 4
	printedHashes := -math.Log2(1 / f)
	printedBits := k * n / math.Log(1-math.Pow(f, 1.0/k))
	if printedHashes >= 0 || printedBits >= 0 {
		t.Fatalf("as printed: k = %g, m = %g", printedHashes, printedBits)
	}
	nearly(t, "Sec. 4.3, k", theory.ElasticHashes(f), -printedHashes, 1e-12)
	nearly(t, "Sec. 4.3, m", theory.ElasticBits(n, f, k), -printedBits, 1e-12)
	nearly(t, "Sec. 4.3, m gives δ", theory.BloomFPR(theory.ElasticBits(n, f, k), k, n), f, 1e-5)
	nearly(t, "Sec. 4.1, k* = ln 2 m/n", theory.ElasticHashes(f), theory.BloomHashes(theory.BloomBits(n, f), n), 1e-12)
	nearly(t, "Sec. 4.3, m at the best k", theory.ElasticBits(n, math.Pow(2, -7), 7), theory.BloomBits(n, math.Pow(2, -7)), 1e-12)
	nearly(t, "Sec. 3.2.4, Δ = Ω^k", math.Pow(theory.ElasticThreshold(f, k), k), f, 1e-12)
	nearly(t, "Table 1, Ω^k", math.Pow(0.2, 5), 3.2e-4, 1e-12)
	nearly(t, "Sec. 4.3, w = 32: 512 MB", math.Ldexp(1, 32-3)/(1<<20), 512, 0)
}

// TestPaperBucketSizeOverflows pins that the bucket size of Sec. 4.3 does not give
// what Theorem 4.1 promises: Lemma 4.1 needs a > 4.
func TestPaperBucketSizeOverflows(t *testing.T) {
	const m = 1 << 15
	load := -math.Log1p(-0.2)
	n := load * m / 5
	d := theory.ElasticBucketSize(n, m, 1.0/m, 5)
	nearly(t, "D at Table 1's Ω, k and m", d, 2.695, 1e-3)
	if odds := m * theory.ElasticTreeOverflow(load, int(math.Ceil(d)), 1); odds < 2 {
		t.Errorf("%g buckets of 3 overflow, expected more than 2", odds)
	}
	if a := math.E * load; a > 4 || theory.ElasticLemma(a, 1.0/(m*m)) {
		t.Errorf("the lemma holds for a = %g", a)
	}
	for a := 4.01; a < 100; a *= 1.3 {
		for _, b := range []float64{0.11, 1e-3, 1e-9, 1e-20} {
			if !theory.ElasticLemma(a, b) {
				t.Errorf("the lemma does not hold for a = %g, b = %g", a, b)
			}
		}
	}
}

// TestOverflowBoundIsABound compares Eq. (3) with the exact odds, and pins that its
// right side as printed, without m, bounds nothing.
func TestOverflowBoundIsABound(t *testing.T) {
	const n, m, k = 1e5, 1 << 20, 7
	for M := 3; M < 12; M++ {
		bound := theory.ElasticOverflowBound(n, m, k, M)
		exact := m * theory.ElasticTreeOverflow(k*n/m, M-1, 1)
		right := m * math.Pow(math.E*n*k/(m*float64(M)), float64(M))
		printed := m * math.Pow(math.E*n*k/float64(M), float64(M))
		if exact > bound || bound > 2.2*exact || bound > right || printed < 1 {
			t.Errorf("M = %d: exact %g, bound %g, right side %g, printed %g", M, exact, bound, right, printed)
		}
	}
}

// TestTreeOverflowMatchesSimulation throws fingerprints at trees.
func TestTreeOverflowMatchesSimulation(t *testing.T) {
	effort.PlainOnly(t)
	trees := effort.Pick(50_000, 200_000)
	for _, c := range []struct{ slots, branches int }{{1, 1}, {2, 1}, {1, 3}, {2, 3}, {2, 4}, {1, 8}} {
		rng := rand.New(rand.NewPCG(uint64(c.slots), uint64(c.branches)))
		load := 0.6
		counts := make([]int, trees*c.branches)
		for range int(load * float64(len(counts))) {
			counts[rng.IntN(len(counts))]++
		}
		over := 0
		for i := range trees {
			spill := 0
			for _, n := range counts[i*c.branches : (i+1)*c.branches] {
				spill += max(0, n-c.slots)
			}
			if c.branches == 1 && spill > 0 || c.branches > 1 && spill > c.slots {
				over++
			}
		}
		lo, hi := theory.BinomialInterval(float64(trees), theory.ElasticTreeOverflow(load, c.slots, c.branches), 5)
		if n := float64(over); n < lo || n > hi {
			t.Errorf("%d slots, %d branches: %d of %d trees overflow, want %.0f to %.0f", c.slots, c.branches, over, trees, lo, hi)
		}
	}
}

// eventGap returns bounds for the number of keys at a resize by set-bit rate over
// the number of changes since the one before, with threshold omega.
//
//	[EBF21] Theorem 4.2, Case 1: n_i <= (8/3) (a_i - a_(i-1))
//
// The ranges printed for p do not follow from the thresholds Ω and Ω/4: after an
// expansion at n keys the next is at 2n and a compression at half of n or below;
// after a compression at n keys the next is at n/2 and an expansion at 2n or above.
// So the worst is 2, and the theorem stands.
func eventGap(omega float64) float64 {
	full, low := -math.Log1p(-omega), -math.Log1p(-omega/4)
	gap := func(p float64) float64 { return p / math.Abs(p-1) } // keys p n after n
	return max(gap(2), gap(0.5), gap(2*low/full), gap(full/low/2))
}

// TestEventGapIsBelowTheTheorems holds for every threshold.
func TestEventGapIsBelowTheTheorems(t *testing.T) {
	for omega := 0.01; omega < 1; omega += 0.01 {
		if gap := eventGap(omega); gap > 8.0/3 || gap < 2-1e-9 {
			t.Errorf("Ω = %.2f: %g", omega, gap)
		}
	}
}
