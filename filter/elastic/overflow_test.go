package elastic

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestEveryConfigTakesItsItems makes filters of all sorts of Configs: what New
// accepts has room for its Items, however few slots were asked for.
func TestEveryConfigTakesItsItems(t *testing.T) {
	accepted, refused := 0, 0
	rng := rand.New(rand.NewPCG(1, 5))
	for trial := range scale(1000) {
		c := Config{
			Items:    1 + rng.Uint64N(1<<rng.IntN(10)),
			FPR:      []float64{0.9, 0.3, 0.1, 0.01, 1e-4}[rng.IntN(5)],
			Hashes:   rng.IntN(9),
			Slots:    rng.IntN(6),
			Branches: rng.IntN(9),
			Growth:   rng.IntN(12),
			Eager:    rng.IntN(2) == 0,
			Salt:     rng.Uint64(),
		}
		if rng.IntN(4) == 0 {
			c.HashBits = 10 + rng.IntN(40)
		}
		f, err := New(c)
		if err != nil {
			refused++
			continue
		}
		accepted++
		for i, k := range filtertest.Keys(uint64(trial), c.Items) {
			if _, err := f.Add(k); err != nil {
				t.Fatalf("trial %d, %+v: key %d: %v", trial, c, i, err)
			}
		}
		if f.table.slow.doublings > roomyDoublings+3 {
			t.Errorf("trial %d, %+v: %d doublings for its own items", trial, c, f.table.slow.doublings)
		}
	}
	if accepted < refused {
		t.Errorf("%d Configs were accepted, %d refused", accepted, refused)
	}
}

// TestHopelessSlotsAreRefused asks for buckets that would make the filter a
// thousand times as large.
func TestHopelessSlotsAreRefused(t *testing.T) {
	for _, c := range []Config{
		{Items: 1000, FPR: 0.01, Slots: 1, Branches: 1},
		{Items: 1_000_000, FPR: 0.001, Slots: 1},
		{Items: 1000, FPR: 0.01, Slots: 2, Growth: 1},
	} {
		if s, err := c.Shape(); err == nil {
			t.Errorf("%+v: %+v, %g trees overflow after %d doublings", c, s, s.overflows(c.Items, roomyDoublings), roomyDoublings)
		}
	}
}

// TestOverflowOfNearlyEmptyFilterDoubles has numbers whose fingerprints part in
// their sixth bit: the filter doubles six times at once, whatever else it holds.
func TestOverflowOfNearlyEmptyFilterDoubles(t *testing.T) {
	f := build1(t, Shape{Bits: 64, Hashes: 1, HashBits: 40, Slots: 1, Branches: 1, Growth: 10, Threshold: 1})
	a, b := []uint64{3}, []uint64{1<<(6+5) | 3}
	f.add(a)
	if _, err := f.add(b); err != nil || f.Bits() != 64<<6 || f.table.copies(a) != 1 || f.table.copies(b) != 1 {
		t.Fatalf("%v, %d bits", err, f.Bits())
	}
	intact(t, f, "doubled six times")
	f.delete(a)
	if f.delete(b); f.Bits() != 64 {
		t.Errorf("%d bits are left of an empty filter", f.Bits())
	}
	intact(t, f, "emptied")
	f.add(a)
	if added, err := f.add([]uint64{1<<(6+10) | 3}); added || !errors.Is(err, filter.ErrFull) || f.Bits() != 64 {
		t.Errorf("fingerprints that part beyond all growth: %v, %d bits", err, f.Bits())
	}
}

// TestCrowdTakesBoundedMemory has two numbers that part in their 26th bit, which does
// not happen by chance.
func TestCrowdTakesBoundedMemory(t *testing.T) {
	f := build1(t, Shape{Bits: 64, Hashes: 1, HashBits: 40, Slots: 1, Branches: 1, Growth: 30, Threshold: 1})
	f.add([]uint64{3})
	if _, err := f.add([]uint64{1<<(6+25) | 3}); !errors.Is(err, filter.ErrFull) || f.Bits() != 64 {
		t.Fatalf("%v, %d bits", err, f.Bits())
	}
	if _, err := f.add([]uint64{1<<(6+9) | 3}); err != nil || f.Bits() != crowdBits {
		t.Fatalf("numbers that part in their tenth bit: %v, %d bits", err, f.Bits())
	}
	intact(t, f, "doubled ten times")
}

// TestRefusedAddChangesNothing fills filters with few slots until one key cannot
// be parted from others any more.
func TestRefusedAddChangesNothing(t *testing.T) {
	for salt := range uint64(scale(200)) {
		f := build1(t, Shape{Bits: 64, Hashes: 3, HashBits: 30, Slots: 1, Branches: 1, Growth: 4, Threshold: 0.5, Salt: salt})
		var err error
		for i := uint64(0); err == nil; i++ {
			before, size := filtertest.Stored(t, f), f.Bits()
			if _, err = f.Add(filtertest.Stream{}.Present(i)); err == nil {
				continue
			}
			if !errors.Is(err, filter.ErrFull) || !bytes.Equal(before, filtertest.Stored(t, f)) || f.Bits() != size {
				t.Fatalf("salt %d, key %d: %v, from %d to %d bits", salt, i, err, size, f.Bits())
			}
		}
	}
}

// someMemory is an allocator that has memory for so many blocks.
type someMemory struct{ blocks int }

func (m *someMemory) Words(n uint64) ([]uint64, error) {
	if m.blocks--; m.blocks < 0 {
		return nil, errNoMemory
	}
	return make([]uint64, n), nil
}

// TestMemoryForSomeDoublingsIsNotEnough needs six doublings for one key and has
// memory for fewer.
func TestMemoryForSomeDoublingsIsNotEnough(t *testing.T) {
	for blocks := range 6 {
		for _, keeps := range []bool{false, true} {
			f := build1(t, Shape{Bits: 64, Hashes: 1, HashBits: 40, Slots: 1, Branches: 1, Growth: 10, Threshold: 1})
			f.add([]uint64{3})
			f.table.slow.from, f.table.slow.keeps = &someMemory{blocks}, keeps
			before := filtertest.Stored(t, f)
			_, err := f.add([]uint64{1<<(6+5) | 3})
			if !errors.Is(err, filter.ErrStorage) || f.Bits() != 64 || !bytes.Equal(before, filtertest.Stored(t, f)) {
				t.Fatalf("memory for %d: %v, %d bits", blocks, err, f.Bits())
			}
			intact(t, f, "not enough memory")
			if want := f.table.slow.words(0); !keeps && f.Info().SlowBits != 64*want {
				t.Errorf("memory for %d: %d bits are taken, want %d", blocks, f.Info().SlowBits, 64*want)
			}
			f.table.slow.from = &someMemory{6}
			if _, err := f.add([]uint64{1<<(6+5) | 3}); err != nil || f.Bits() != 64<<6 {
				t.Errorf("memory came back: %v, %d bits", err, f.Bits())
			}
			intact(t, f, "enough memory")
		}
	}
}

// TestDeleteLeavesWhatOthersShare has numbers so short that keys are made of those
// of others: as long as nothing was merged, Delete takes one copy of each.
func TestDeleteLeavesWhatOthersShare(t *testing.T) {
	f := build1(t, Shape{Bits: 1 << 10, Hashes: 2, HashBits: 14, Slots: 16, Branches: 3, Growth: 2, Threshold: 1})
	x, y, z := []uint64{1, 2}, []uint64{1, 3}, []uint64{2, 4}
	for _, xs := range [][]uint64{x, y, z} {
		if added, err := f.add(xs); !added || err != nil {
			t.Fatal(added, err)
		}
	}
	g, err := Read(bytes.NewReader(filtertest.Stored(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Filter{f, g} {
		if err := f.delete(x); err != nil || f.table.copies(y) != 1 || f.table.copies(z) != 1 || f.Len() != 2 || !f.exact {
			t.Errorf("%v, %d of y, %d of z, %d keys", err, f.table.copies(y), f.table.copies(z), f.Len())
		}
	}
}

// TestManyCopiesAreRefused unites the same keys again and again, at all
// loads, until it is refused: at no time is the filter larger than said.
func TestManyCopiesAreRefused(t *testing.T) {
	effort.PlainOnly(t)
	for _, n := range []uint64{20, 100, 400, 900, 1500, effort.Pick[uint64](10_000, 30_000)} {
		c := Config{Items: max(n, 1000), FPR: 0.01}
		f, o := filtertest.Make(t, New, c), filtertest.Make(t, New, c)
		keys := filtertest.Keys(3, n)
		add(t, o, keys...)
		alone := o.Bits()
		most := max(alone, uint64(copiesFactor*float64(o.table.set.Load())/o.shape.Threshold))
		copies := 0
		for ; copies < 100; copies++ {
			before, size := filtertest.Stored(t, f), f.Bits()
			err := f.Union(o)
			if f.Bits() > most {
				t.Errorf("%d keys: %d bits with %d copies, %d without", n, f.Bits(), copies, alone)
			}
			if err == nil {
				continue
			}
			if !errors.Is(err, filter.ErrFull) || !bytes.Equal(before, filtertest.Stored(t, f)) || f.Bits() != size {
				t.Errorf("%d keys: %v, from %d to %d bits", n, err, size, f.Bits())
			}
			break
		}
		if copies < 2 || n < 10_000 && copies < 3 || copies > 7 {
			t.Errorf("%d keys: %d copies", n, copies)
		}
		has(t, f, keys, "many copies")
		intact(t, f, "many copies")
		remove(t, f, keys...)
		if f.Len() != 0 || f.table.set.Load() != 0 {
			t.Errorf("%d keys, %d bits are left", f.Len(), f.table.set.Load())
		}
	}
}

// TestStarvedUnionIsTold unites without memory to grow: Info tells that the rate is
// above the asked one, also of the stored form, and growth is caught up with.
func TestStarvedUnionIsTold(t *testing.T) {
	s := Shape{Bits: 1 << 9, Hashes: 4, HashBits: 40, Slots: 8, Branches: 3, Growth: 8, Threshold: 0.3}
	f, o := build1(t, s), build1(t, s)
	keys := filtertest.Keys(4, 90)
	add(t, f, keys[:40]...)
	add(t, o, keys[40:80]...)
	heap := f.table.slow.from
	f.table.slow.from = noMemory{}
	if err := f.Union(o); err != nil {
		t.Fatal(err)
	}
	g, err := Read(bytes.NewReader(filtertest.Stored(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Filter{f, g} {
		if info := f.Info(); !info.Overfull || info.Unbounded || info.Fill <= s.Threshold || !info.Exact || info.Keys != 80 {
			t.Errorf("%+v", info)
		}
	}
	f.table.slow.from = heap
	for _, f := range []*Filter{f, g} {
		add(t, f, keys[80:]...)
		f.FinishResize()
		if info := f.Info(); info.Overfull || !info.Unbounded {
			t.Errorf("with memory: %+v", info)
		}
		has(t, f, keys, "with memory")
	}
}

// TestUnionOfDisjointSetsStaysExact holds that a count survives if nothing is common.
func TestUnionOfDisjointSetsStaysExact(t *testing.T) {
	c := Config{Items: 500, FPR: 0.01}
	f, o := filtertest.Make(t, New, c), filtertest.Make(t, New, c)
	keys := filtertest.Keys(5, 500)
	add(t, f, keys[:300]...)
	add(t, o, keys[300:]...)
	if err := f.Union(o); err != nil || !f.Info().Exact || f.Len() != 500 {
		t.Errorf("%v, %+v", err, f.Info())
	}
	if err := f.Union(o); err != nil || f.Info().Exact {
		t.Errorf("with common keys: %v, %+v", err, f.Info())
	}
}
