package theory_test

import (
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/internal/theory"
)

func TestBloomFPRAtOptimumMeetsRate(t *testing.T) {
	for _, f := range []float64{0.5, 0.1, 0.01, 0.001, 1e-6, 1e-9} {
		m := theory.BloomBits(1e6, f)
		got := theory.BloomFPR(m, theory.BloomHashes(m, 1e6), 1e6)
		near(t, "rate at optimum", got/f, 1, 1e-4)
	}
}

func TestBloomFillSmallFiltersExactly(t *testing.T) {
	// Two bits, one hash: after n keys a bit is clear with probability 2^-n.
	for n := range 10 {
		near(t, "fill of 2 bits", theory.BloomFill(2, 1, float64(n)), 1-math.Pow(2, -float64(n)), 1e-12)
	}
}

func TestBloomCardinalityInvertsFill(t *testing.T) {
	for _, n := range []float64{0, 1, 100, 1e5, 1e6} {
		x := 1e7 * theory.BloomFill(1e7, 7, n)
		near(t, "cardinality", theory.BloomCardinality(1e7, 7, x), n, 1e-6*n+1e-6)
	}
	if got := theory.BloomCardinality(64, 3, 64); !math.IsInf(got, 1) {
		t.Errorf("all bits set: got %v, want +Inf", got)
	}
}
