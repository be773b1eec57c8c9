package partition

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// TestPrintedNumbers has what [DPBF19] prints and what follows from it.
func TestPrintedNumbers(t *testing.T) {
	for _, c := range []struct {
		where     string
		got, want float64
		tolerance float64
	}{
		{"Eq. (1), half full at k = 13 and f = 2^-13: n k / ln 2", UnitBits(1024, 13, math.Exp2(-13)), math.Ceil(1024 * 13 / math.Ln2), 0},
		{"Eq. (1) and its inverse", UnitPopulation(UnitBits(1e9, 13, 1e-4), 13, 1e-4), 1e9, 1},
		{"Theorem A.1, f of a full unit", theory.BloomFPR(1e9, 13, UnitPopulation(1e9, 13, 1e-4)), 1e-4, 1e-9},
		{"Sec. 2.2, Figure 3: n_t = |U|/2^d", float64(example().UnitIDs()), 4, 0},
		{"Figure 3: 5 bits for 4 ids and 2 hashes are for a rate of", math.Pow(1-math.Exp(-2*4/5.0), 2), 0.637, 0.0005},
		{"Eq. (2), Figure 3: 9 ids in a tree of depth 3", MinUnits(9, 32, 3), 3, 0},
		{"Eq. (2), one id more than fits", MinUnits(1025, 1<<32, 22), 2, 0},
		{"Space, Figure 5: 6 units in the map, 3 in the tree, of 5 bits", PaperBits(6, 3, 5), 45, 0},
		{"Sec. 2.2, the worst case: s is as large as 2^d", UniformUnits(1e12, 10), 1024, 1e-9},
		{"no set, no units", UniformUnits(0, 10), 0, 0},
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
	if want := UnitBits(1024, 13, 1e-4); printed >= 0 || math.Abs(printed+want) > 1 {
		t.Errorf("as printed %v bits, Eq. (1) gives %v", printed, want)
	}
}

// TestPrintedBoundOfTheTreeNeedsEmptyLeaves pins an erratum: the number of
// populated units is said to bound the leaves of the tree. It does not, for a set
// whose ids are all in one corner: there are as many leaves as levels, but all except
// two are empty, and only if these get no unit does the bound hold.
func TestPrintedBoundOfTheTreeNeedsEmptyLeaves(t *testing.T) {
	f := build(t, Shape{Universe: 1 << 16, IDBits: 16, Depth: 14, UnitBits: 5, Hashes: 2, Full: 5, Count: 4})
	add(t, f, 0, 1, 2, 3, 4)
	leaves, populated := 0, 0
	for n := range f.Nodes() {
		if n.Leaf {
			leaves++
		}
	}
	for range f.Units() {
		populated++
	}
	if populated != 2 || leaves != 15 || f.units.n != 2 {
		t.Errorf("%d populated units, %d leaves, %d units of the tree", populated, leaves, f.units.n)
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
	f := build(t, Shape{Universe: 1 << 32, IDBits: 32, Depth: d + 6, UnitBits: 1280, Hashes: 13, Full: 640})
	rng := rand.New(rand.NewPCG(1, 1))
	for range n {
		add(t, f, rng.Uint64()>>32)
	}
	seen := map[uint64]bool{}
	for id := range f.IDs() {
		seen[id>>(32-d)] = true
	}
	if want := UniformUnits(n, d); math.Abs(float64(len(seen))-want) > 4*math.Sqrt(want*math.Exp(-n/4096.0)) {
		t.Errorf("%d units are populated, want %.0f", len(seen), want)
	}
}

// TestPredictionIsMeasured compares with filters of evenly spread keys. What the
// tolerance is for is chance: a few nodes more or less are overfull.
func TestPredictionIsMeasured(t *testing.T) {
	sizes := []int{0, 1, 100, 1000, 2500}
	if !effort.Brief() {
		sizes = append(sizes, 20_000, 130_000, 200_000)
	}
	for _, n := range sizes {
		for _, c := range []Config{{FPR: 1e-4}, {FPR: 1e-4, Universe: 1 << 32}, {FPR: 0.01, Items: 1000}, {FPR: 0.3}} {
			f := filtertest.Make(t, New, c)
			addUniform(t, f, n, uint64(n))
			p, info := filtertest.Make(t, f.shape.Predict, uint64(n)), f.Info()
			chance := 0.0
			if p.Units > 1 {
				chance = 1 / math.Sqrt(p.Units)
			}
			for _, x := range []struct {
				what                 string
				got, want, tolerance float64
			}{
				{"units", float64(f.units.n), p.Units, 0.02 + chance/2},
				{"fast bits", filter.PerKey(float64(info.FastBits), uint64(n)), p.FastBitsPerKey, 0.13 + chance/2},
				{"slow bits", filter.PerKey(float64(info.SlowBits), uint64(n)), p.SlowBitsPerKey, 0.04 + chance/4},
				{"rate", info.FPR, p.FPR, 0.1 + 10/math.Sqrt(float64(n)+1) + 2*chance},
				{"paper's bits", float64(f.PaperBits()), paperBits(f.shape, n, p.Units), 0.03 + chance/2},
			} {
				if math.Abs(x.got-x.want) > x.tolerance*x.want+1e-9 {
					t.Errorf("%+v, %d keys: %s %.5g, predicted %.5g", c, n, x.what, x.got, x.want)
				}
			}
		}
	}
}

// paperBits is what n evenly spread ids in so many units take in the paper's layout.
func paperBits(s Shape, n int, units float64) float64 {
	return PaperBits(UniformUnits(float64(n), s.Depth), units, float64(s.UnitBits))
}

// TestPredictionMakesSense looks at all sizes, where a mistake would show as a jump.
func TestPredictionMakesSense(t *testing.T) {
	effort.PlainOnly(t)
	s, err := Config{FPR: 1e-4, Universe: 1 << 32}.Shape()
	if err != nil {
		t.Fatal(err)
	}
	before := filtertest.Make(t, s.Predict, 0)
	for n := 1.0; n < 3e8; n = math.Ceil(n * 1.09) {
		p := filtertest.Make(t, s.Predict, uint64(n))
		if p.Units < before.Units-1e-6 || p.Units > n+1 || p.FPR > 1e-4 || p.HitLines != 14 || p.MissLines > 6 || p.MissLines < 1 {
			t.Errorf("%.0f keys: %+v after %+v", n, p, before)
		}
		if perKey := p.FastBitsPerKey + p.SlowBitsPerKey; n > 10_000 && perKey > 4*19.17 {
			t.Errorf("%.0f keys: %.1f bits per key", n, perKey)
		}
		before = p
	}
}

// TestFullUnitsKeepTheRate fills leaves at full depth, which never split.
func TestFullUnitsKeepTheRate(t *testing.T) {
	effort.OneGoroutine(t)
	for _, unitLog := range []int{1, 4, 6, 8, 10} {
		for _, fpr := range []float64{0.3, 0.01, 1e-4} {
			s, err := Config{FPR: fpr, Universe: 1 << 20, Depth: 20 - unitLog}.Shape()
			if err != nil {
				t.Fatal(err)
			}
			f := build(t, s)
			for id := range uint64(8192) {
				add(t, f, id)
			}
			for i := range f.leaves {
				if l := &f.leaves[i]; uint64(l.set) > s.Full {
					t.Errorf("%+v: a unit of %d ids has %d bits", s, l.count, l.set)
				}
			}
			if rate := s.UnitFPR(); rate > fpr {
				t.Errorf("%+v: the rate of a full unit is %g, asked %g", s, rate, fpr)
			}
		}
	}
}

func build(tb testing.TB, s Shape) *Filter {
	tb.Helper()
	return filtertest.Make(tb, Build, s)
}

func add(tb testing.TB, f *Filter, ids ...uint64) {
	tb.Helper()
	for _, id := range ids {
		if _, err := f.Add(filter.Key(id)); err != nil {
			tb.Fatal(err)
		}
	}
}

// addUniform adds n different keys that are spread evenly.
func addUniform(tb testing.TB, f *Filter, n int, seed uint64) {
	tb.Helper()
	stream := filtertest.Stream{Seed: seed}
	if f.shape.Universe > 0 {
		stream.Bits = f.shape.IDBits
	}
	for i := range uint64(n) {
		add(tb, f, uint64(stream.Present(i)))
	}
}

// example is the geometry of [DPBF19] Figures 3 to 5.
func example() Shape {
	return Shape{Universe: 32, IDBits: 5, Depth: 3, UnitBits: 5, Hashes: 2, Full: 5, Count: 4}
}
