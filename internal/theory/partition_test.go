package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// TestPartitionPrintedNumbers has what [DPBF19] prints and what follows from it.
func TestPartitionPrintedNumbers(t *testing.T) {
	for _, c := range []struct {
		where     string
		got, want float64
		tolerance float64
	}{
		{"Eq. (1), half full at k = 13 and f = 2^-13: n k / ln 2", theory.PartitionUnitBits(1024, 13, math.Exp2(-13)), math.Ceil(1024 * 13 / math.Ln2), 0},
		{"Eq. (1) and its inverse", theory.PartitionUnitPopulation(theory.PartitionUnitBits(1e9, 13, 1e-4), 13, 1e-4), 1e9, 1},
		{"Theorem A.1, f of a full unit", theory.BloomFPR(1e9, 13, theory.PartitionUnitPopulation(1e9, 13, 1e-4)), 1e-4, 1e-9},
		{"Sec. 2.2, Figure 3: n_t = |U|/2^d", math.Ldexp(32, -3), 4, 0},
		{"Figure 3: 5 bits for 4 ids and 2 hashes are for a rate of", math.Pow(1-math.Exp(-2*4/5.0), 2), 0.637, 0.0005},
		{"Eq. (2), Figure 3: 9 ids in a tree of depth 3", theory.PartitionMinUnits(9, 32, 3), 3, 0},
		{"Eq. (2), one id more than fits", theory.PartitionMinUnits(1025, 1<<32, 22), 2, 0},
		{"Space, Figure 5: 6 units in the map, 3 in the tree, of 5 bits", theory.PartitionPaperBits(6, 3, 5), 45, 0},
		{"Sec. 2.2, the worst case: s is as large as 2^d", theory.PartitionUniformUnits(1e12, 10), 1024, 1e-9},
		{"no set, no units", theory.PartitionUniformUnits(0, 10), 0, 0},
	} {
		if math.Abs(c.got-c.want) > c.tolerance {
			t.Errorf("%s: %v, want %v", c.where, c.got, c.want)
		}
	}
}

// TestPrintedSpaceIsNegative pins an erratum: the logarithm in the space formula
// of Sec. 2.2 has no minus sign, unlike that of Eq. (1).
func TestPrintedSpaceIsNegative(t *testing.T) {
	printed := math.Ceil(1024 * 13 / math.Log(1-math.Pow(1e-4, 1.0/13)))
	if want := theory.PartitionUnitBits(1024, 13, 1e-4); printed >= 0 || math.Abs(printed+want) > 1 {
		t.Errorf("as printed %v bits, Eq. (1) gives %v", printed, want)
	}
}

// TestLinearGrowthIsNoLowerBound pins an erratum in the proof of Theorem A.1: from
// f_D >= 1-(1-f)^a does not follow f_D >= a f, which is larger.
func TestLinearGrowthIsNoLowerBound(t *testing.T) {
	for _, a := range []float64{2, 100, 10_000} {
		if exact := -math.Expm1(a * math.Log1p(-1e-4)); exact >= a*1e-4 {
			t.Errorf("%g units: %g, not below %g", a, exact, a*1e-4)
		}
	}
}

// TestUniformUnitsIsMeasured throws ids at the leaves of a tree.
func TestUniformUnitsIsMeasured(t *testing.T) {
	const n, d = 5000, 12
	rng := rand.New(rand.NewPCG(1, 1))
	seen := map[uint64]bool{}
	for range n {
		seen[rng.Uint64()>>(64-d)] = true
	}
	if want := theory.PartitionUniformUnits(n, d); math.Abs(float64(len(seen))-want) > 4*math.Sqrt(want*math.Exp(-n/4096.0)) {
		t.Errorf("%d units are populated, want %.0f", len(seen), want)
	}
}
