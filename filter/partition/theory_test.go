package partition

import (
	"math"
	"testing"
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

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
			} {
				if math.Abs(x.got-x.want) > x.tolerance*x.want+1e-9 {
					t.Errorf("%+v, %d keys: %s %.5g, predicted %.5g", c, n, x.what, x.got, x.want)
				}
			}
		}
	}
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

// TestAlignedRunsAreNoWorseThanThePaper has the sets for which the paper's layout is
// at its best: every populated unit is full, or nearly, or two of them share a leaf.
func TestAlignedRunsAreNoWorseThanThePaper(t *testing.T) {
	effort.OneGoroutine(t)
	for _, n := range []uint64{1024, 1000, 900, 700, 512, 340, 100} {
		for _, units := range []uint64{1, 2, 3, 30} {
			f := filtertest.Make(t, New, Config{FPR: 1e-4, Universe: 1 << 32})
			for unit := range units {
				low := uint64(filtertest.Stream{Bits: 22}.Present(unit)) << 10
				for i := range n {
					add(t, f, low+i)
				}
			}
			info := f.Info()
			paper := theory.PartitionPaperBits(float64(units), float64(f.units.n), float64(f.bits))
			if ours := float64(info.FastBits + info.SlowBits); ours > paper {
				t.Errorf("%d units of %d ids: %.0f bits, the paper's layout has %.0f", units, n, ours, paper)
			}
		}
	}
	// The entries are counted by a constant, so that files do not depend on the machine.
	if size := unsafe.Sizeof(leaf{}); 8*size > leafBits {
		t.Errorf("an entry of a leaf has %d bits, counted as %d", 8*size, leafBits)
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
