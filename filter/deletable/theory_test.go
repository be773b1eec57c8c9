package deletable_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.5g, want %.5g ± %.2g", what, got, want, tolerance)
	}
}

// TestPrintedNumbers holds what [DlBF10] prints, and what its formulas give where
// it prints something else. m = 240, k = 5, r = 24, n = 22 unless said.
func TestPrintedNumbers(t *testing.T) {
	const cells, k, n, s = 216.0, 5, 22, 9
	for _, c := range []struct {
		where           string
		got, want, tol  float64
		printed, within float64 // what the paper prints, if it does
	}{
		{where: "p_0", got: theory.DeletableClear(cells, k, n), want: 0.6002, tol: 5e-5},
		{where: "p_1", got: theory.DeletableOnce(cells, k, n), want: 0.3071, tol: 5e-5},
		{where: "p_c", got: theory.DeletableCollided(cells, k, n), want: 0.0927, tol: 5e-5},
		{where: "collision-free region", got: theory.DeletableCleanRegion(cells, k, n, s), want: 0.417, tol: 5e-4},
		{where: "Eq. (1) as printed", got: theory.DeletableEq1Printed(cells, k, n, s), want: 0.068, tol: 5e-4},
		{where: "Eq. (1) corrected, Sec. IV: 90 % predicted by theory", got: theory.DeletableEq1(cells, k, n, s), want: 0.932, tol: 5e-4, printed: 0.90, within: 0.04},
		{where: "conditioned, Sec. IV: 80 % on average", got: theory.DeletableShare(cells, k, n, s), want: 0.802, tol: 5e-4, printed: 0.80, within: 0.005},
		{where: "Sec. IV: around 40 % of the bits", got: theory.DeletableFreeBits(cells, k, n, s), want: 0.353, tol: 5e-4, printed: 0.40, within: 0.05},
		{where: "Eq. (2)", got: theory.DeletableFPR(240, 24, k, n), want: 0.0102, tol: 5e-5},
		{where: "standard filter of 240 bits", got: theory.DeletableFPR(240, 0, k, n), want: 0.0068, tol: 5e-5},
		// Sec. III-A does not state k for m/r = 20, m/n = 16; regions of 19 cells, m' = 15.2 n.
		{where: "Sec. III-A: around 90 %, k = 6", got: theory.DeletableEq1(15_200, 6, 1000, 19), want: 0.890, tol: 5e-4, printed: 0.90, within: 0.02},
		{where: "the same, k = 5", got: theory.DeletableEq1(15_200, 5, 1000, 19), want: 0.939, tol: 5e-4, printed: 0.90, within: 0.04},
		{where: "the same, k = 5, conditioned", got: theory.DeletableShare(15_200, 5, 1000, 19), want: 0.858, tol: 5e-4},
		{where: "the same, k = 6, conditioned", got: theory.DeletableShare(15_200, 6, 1000, 19), want: 0.776, tol: 5e-4},
	} {
		near(t, c.where, c.got, c.want, c.tol)
		if c.printed != 0 {
			near(t, c.where+", printed", c.got, c.printed, c.within)
		}
	}
}

func TestFormulasAtTheirEnds(t *testing.T) {
	for _, c := range []struct {
		where     string
		got, want float64
	}{
		{"no keys", theory.DeletableShare(100, 3, 0, 10), 1},
		{"no keys, bits", theory.DeletableFreeBits(100, 3, 0, 10), 1},
		{"no keys, rate", theory.DeletableFPR(100, 10, 3, 0), 0},
		{"no keys, clean", theory.DeletableCleanRegion(100, 3, 0, 10), 1},
		{"one cell, one hit", theory.DeletableShare(1, 1, 1, 1), 1},
		{"one cell, two keys", theory.DeletableShare(1, 1, 2, 1), 0},
		{"one cell, rate", theory.DeletableFPR(2, 1, 1, 1), 1},
		{"far too many keys", theory.DeletableShare(100, 3, 1e9, 10), 0},
	} {
		near(t, c.where, c.got, c.want, 1e-12)
	}
}

// A trial is what became of filters of one shape with n keys each.
type trial struct {
	deletable, spread float64 // share of keys; standard deviation of its mean
	bits              float64 // share of set bits that deleting all keys clears
	cleared           float64 // the same as a number per filter
	clean             float64 // share of regions
	fill              float64
}

// simulate runs the experiment of [DlBF10] Sec. IV: on every trial n random keys
// are added, and those deleted that can be.
func simulate(t *testing.T, s deletable.Shape, n, trials int, seed uint64) (r trial) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, s.Regions))
	keys := make([]filter.Key, n)
	var squares, set, left float64
	for range trials {
		f := build(t, s)
		for i := range keys {
			keys[i] = filter.Key(rng.Uint64())
		}
		f.AddBatch(keys)
		fill := f.Info().Fill
		r.clean += f.CleanRegions()
		deleted, _, _, err := filter.DeleteBatch(f, keys)
		if err != nil {
			t.Fatal(err)
		}
		share := float64(deleted) / float64(n)
		r.deletable += share
		squares += share * share
		set += fill
		left += f.Info().Fill
	}
	runs := float64(trials)
	r.deletable /= runs
	r.spread = math.Sqrt((squares/runs - r.deletable*r.deletable) / runs)
	r.clean /= runs
	r.fill = set / runs
	r.bits = (set - left) / set
	r.cleared = (set - left) / runs * float64(s.Cells())
	return r
}

// TestPaperSimulation is [DlBF10] Sec. IV, Fig. 3 at n = 22: about 80 % of the keys
// can be deleted, as the conditioned formula says and Eq. (1) does not.
func TestPaperSimulation(t *testing.T) {
	r := simulate(t, deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}, 22, 2000, 1)
	t.Logf("deletable %.1f %% ± %.2f (Eq. (1) corrected 93.2 %%, conditioned 80.2 %%, paper 80 %%), by clearing %.1f %% of the set bits (formula 35.3 %%, paper around 40 %%); %.1f %% of the regions are clean",
		100*r.deletable, 100*r.spread, 100*r.bits, 100*r.clean)
	near(t, "paper", r.deletable, 0.80, 0.01)
	near(t, "conditioned", r.deletable, 0.802, 4*r.spread+0.005)
	near(t, "bits", r.bits, 0.353, 0.02)
	if r.deletable > 0.932-20*r.spread {
		t.Errorf("deletable %.4f is not far from Eq. (1)", r.deletable)
	}
}

// TestMoreRegionsClearMoreBits is the other finding of Sec. IV: from r = 60 to 120
// the share of bits that can be cleared rises, that of keys does not.
func TestMoreRegionsClearMoreBits(t *testing.T) {
	effort.PlainOnly(t)
	for _, n := range []int{16, 22, 30} {
		a := simulate(t, deletable.Shape{Bits: 240, Hashes: 5, Regions: 60}, n, 2000, 2)
		b := simulate(t, deletable.Shape{Bits: 240, Hashes: 5, Regions: 120}, n, 2000, 3)
		t.Logf("n = %d: r = 60: keys %.1f %%, bits %.1f %% (%.1f); r = 120: keys %.1f %%, bits %.1f %% (%.1f)",
			n, 100*a.deletable, 100*a.bits, a.cleared, 100*b.deletable, 100*b.bits, b.cleared)
		if b.deletable > a.deletable+0.02 {
			t.Errorf("n = %d: deletable %.3f with r = 60, %.3f with r = 120", n, a.deletable, b.deletable)
		}
		if n >= 16 && b.bits < a.bits {
			t.Errorf("n = %d: %.3f of the bits with r = 60, %.3f with r = 120", n, a.bits, b.bits)
		}
	}
}

// TestRateBeforeAndAfterDeleting is [DlBF10] Fig. 4 at n = 22: the rate is that of
// Eq. (2), above that of a standard filter of 240 bits, and far lower when all keys
// were deleted that can be.
func TestRateBeforeAndAfterDeleting(t *testing.T) {
	const n, trials, probes = 22, 2000, 100
	before, after := 0, 0
	for seed := range uint64(trials) {
		stream := filtertest.Stream{Seed: seed}
		f := build(t, deletable.Shape{Bits: 240, Hashes: 5, Regions: 24})
		f.AddBatch(stream.Keys(n))
		before += filtertest.MeasureRate(f, stream, probes)
		filter.DeleteBatch(f, stream.Keys(n))
		after += filtertest.MeasureRate(f, stream, probes)
	}
	t.Logf("rate %.2f %% before, %.2f %% after; Eq. (2) %.2f %%, standard filter %.2f %%", 100*float64(before)/trials/probes,
		100*float64(after)/trials/probes, 100*theory.DeletableFPR(240, 24, 5, n), 100*theory.DeletableFPR(240, 0, 5, n))
	// Filters of 216 cells fill so unevenly that the mean of fill^k is some 2 % above Eq. (2).
	filtertest.CheckRate(t, "before", before, trials*probes, 1.02*theory.DeletableFPR(240, 24, 5, n), 6)
	if after*5 > before {
		t.Errorf("%d false positives before, %d after", before, after)
	}
}

// TestFormulasMatchSimulation compares with filters large enough for the
// approximations.
func TestFormulasMatchSimulation(t *testing.T) {
	effort.PlainOnly(t)
	for i, c := range []struct {
		shape deletable.Shape
		n     int
	}{
		{deletable.Shape{Bits: 20_000, Hashes: 5, Regions: 2000}, 2000},
		{deletable.Shape{Bits: 20_000, Hashes: 3, Regions: 1000}, 2500},
		{deletable.Shape{Bits: 20_000, Hashes: 7, Regions: 10_000}, 1000},
		{deletable.Shape{Bits: 20_000, Hashes: 1, Regions: 500}, 1000},
	} {
		r := simulate(t, c.shape, c.n, 40, uint64(i))
		cells, k, n, s := float64(c.shape.Cells()), float64(c.shape.Hashes), float64(c.n), float64(c.shape.RegionBits())
		name := fmt.Sprintf("%+v", c.shape)
		near(t, name+" deletable", r.deletable, theory.DeletableShare(cells, k, n, s), 4*r.spread+0.002)
		near(t, name+" bits", r.bits, theory.DeletableFreeBits(cells, k, n, s), 4*r.spread+0.004)
		near(t, name+" clean", r.clean, theory.DeletableCleanRegion(cells, k, n, s), 0.01)
		near(t, name+" fill", r.fill, 1-theory.DeletableClear(cells, k, n), 0.004)
		near(t, name+" sum", theory.DeletableClear(cells, k, n)+theory.DeletableOnce(cells, k, n)+theory.DeletableCollided(cells, k, n), 1, 1e-12)
	}
}
