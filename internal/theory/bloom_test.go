package theory_test

import (
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/internal/theory"
)

func near(t *testing.T, where string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.8g, want %.8g ± %.2g", where, got, want, tolerance)
	}
}

// TestBloomFormulas checks the formulas against each other and against printed
// figures of the papers, to the digits printed.
func TestBloomFormulas(t *testing.T) {
	for _, c := range []struct {
		where          string
		got, want, tol float64
	}{
		{"[Sum] m/n at P = 0.001", theory.BloomBits(1, 0.001), 14.378, 0.001},
		{"[Sum] m/n at P = 0.01", theory.BloomBits(1, 0.01), 9.585, 0.001},
		{"[Sum] k at P = 0.001", theory.BloomHashes(14.378, 1), 9.966, 0.001},
		{"[dlCBF06] Sec. 4, 9 counters, 6 hashes", theory.BloomFPR(9e6, 6, 1e6), 0.01327, 0.000005},
		{"[dlCBF06] Sec. 5.1, 13.5 counters, 9 hashes", theory.BloomFPR(13.5*49152, 9, 49152), 0.001529, 0.0000005},
	} {
		near(t, c.where, c.got, c.want, c.tol)
	}
}

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
