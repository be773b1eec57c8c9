package deletable

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// A naive filter is the definition of [DlBF10] Sec. III, bit by bit, with the
// distinct positions of a key.
type naive struct {
	s     Shape
	marks []bool
	cells []bool
}

func newNaive(s Shape) *naive {
	return &naive{s, make([]bool, s.Regions), make([]bool, s.Cells())}
}

func (n *naive) add(k filter.Key) {
	for _, p := range n.s.Positions(k) {
		if n.cells[p] {
			n.marks[p/n.s.RegionBits()] = true
		}
		n.cells[p] = true
	}
}

func (n *naive) has(k filter.Key) bool {
	return !slices.ContainsFunc(n.s.Positions(k), func(p uint64) bool { return !n.cells[p] })
}

// delete returns how many cells it cleared, -1 if k is not there.
func (n *naive) delete(k filter.Key) (cleared int) {
	if !n.has(k) {
		return -1
	}
	for _, p := range n.s.Positions(k) {
		if !n.marks[p/n.s.RegionBits()] {
			n.cells[p] = false
			cleared++
		}
	}
	return cleared
}

func (n *naive) union(o *naive) {
	for p, set := range o.cells {
		if set && n.cells[p] {
			n.marks[uint64(p)/n.s.RegionBits()] = true
		}
		n.cells[p] = n.cells[p] || set
	}
	for r, set := range o.marks {
		n.marks[r] = n.marks[r] || set
	}
}

func (n *naive) intersect(o *naive) {
	for p, set := range o.cells {
		n.cells[p] = n.cells[p] && set
	}
	for r, set := range o.marks {
		n.marks[r] = n.marks[r] && set
	}
}

// raw is the raw form, made bit by bit.
func (n *naive) raw() []byte {
	out := make([]byte, n.s.RawLen())
	for i, set := range slices.Concat(n.marks, n.cells) {
		if set {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// TestFilterIsItsDefinition changes filters of odd shapes at random, the naive
// ones alongside, and compares all bits after each step.
func TestFilterIsItsDefinition(t *testing.T) {
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := 2 + rng.Uint64N(400)
		s := Shape{Bits: m, Hashes: 1 + rng.IntN(8), Regions: 1 + rng.Uint64N(m/2), Salt: seed}
		f, n := filtertest.Make(t, Build, s), newNaive(s)
		for step := range 60 {
			change(t, rng, f, n, 3)
			if k := filter.Key(step * 0x9E37); f.MayContain(k) != n.has(k) {
				t.Fatalf("seed %d, %+v, step %d: %#x is there: %t", seed, s, step, k, n.has(k))
			}
			if !slices.Equal(f.AppendRaw(nil), n.raw()) {
				t.Fatalf("seed %d, %+v, step %d: got\n%08b, want\n%08b", seed, s, step, f.AppendRaw(nil), n.raw())
			}
		}
	}
}

// change does one operation on both, mostly additions and deletions.
func change(t *testing.T, rng *rand.Rand, f *Filter, n *naive, depth int) {
	t.Helper()
	k := filter.Key(rng.Uint64N(40) * 0x9E3779B97F4A7C15)
	dice := rng.IntN(20)
	if dice < 16 || depth == 0 {
		if dice%2 == 0 {
			f.Add(k)
			n.add(k)
			return
		}
		cleared := n.delete(k)
		if err := f.Delete(k); (err == nil) != (cleared > 0) {
			t.Fatalf("%+v: deleting %#x: %v, want %d cleared", f.shape, k, err, cleared)
		}
		return
	}
	g, o := filtertest.Make(t, Build, f.shape), newNaive(f.shape)
	for range 10 {
		change(t, rng, g, o, depth-1)
	}
	if dice < 18 {
		f.Union(g)
		n.union(o)
		return
	}
	f.Intersect(g)
	n.intersect(o)
}

func TestDividerDivides(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		s := 1 + rng.Uint64()>>(14+rng.IntN(50))
		d := newDivider(s)
		i := rng.Uint64() >> (1 + rng.IntN(63))
		near := i / s * s
		for _, i := range []uint64{0, 1, s - 1, s, i, near, near + s - 1, 1<<63 - 1} {
			if i >= 1<<63 {
				continue
			}
			if got := d.of(i); got != i/s {
				t.Fatalf("%d / %d: got %d, want %d", i, s, got, i/s)
			}
		}
	}
}

func TestCountCellsCountsAnyRange(t *testing.T) {
	f := filtertest.Make(t, Build, Shape{Bits: 301, Hashes: 1, Regions: 1})
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range f.cells {
		f.cells[i] = rng.Uint64()
	}
	for first := range uint64(80) {
		want := uint64(0)
		for end := first + 1; end <= 300; end++ {
			want += f.cells[(end-1)/64] >> ((end - 1) % 64) & 1
			if got := f.countCells(first, end); got != want {
				t.Fatalf("from %d to %d: got %d, want %d", first, end, got, want)
			}
		}
	}
}
