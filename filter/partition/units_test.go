package partition

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// TestUnitsKeepTheirWordsAcrossSlabs takes units from slabs of one to eight, by ones
// and ahead, and writes its number into each.
func TestUnitsKeepTheirWordsAcrossSlabs(t *testing.T) {
	for shift := range uint(4) {
		for _, ahead := range []bool{false, true} {
			u := units{stride: 3, shift: shift, ahead: ahead}
			for i := range 100 {
				n, err := u.take()
				if err != nil || n != i {
					t.Fatalf("unit %d is number %d: %v", i, n, err)
				}
				words := u.at(n)
				if len(words) != 3 || words[0]|words[1]|words[2] != 0 {
					t.Fatalf("unit %d begins with %v", n, words)
				}
				words[0], words[2] = uint64(i), ^uint64(i)
				if !ahead && held(&u) != u.words(u.n) {
					t.Fatalf("shift %d: %d units have %d words, want %d", shift, u.n, held(&u), u.words(u.n))
				}
			}
			if err := u.trim(); err != nil {
				t.Fatal(err)
			}
			if held(&u) != u.words(u.n) {
				t.Errorf("shift %d, trimmed: %d words, want %d", shift, held(&u), u.words(u.n))
			}
			for i := range 100 {
				if words := u.at(i); words[0] != uint64(i) || words[2] != ^uint64(i) {
					t.Fatalf("shift %d: unit %d has become %v", shift, i, words)
				}
			}
		}
	}
}

// held returns how many words all slabs have.
func held(u *units) (words uint64) {
	for _, slab := range u.slabs {
		words += uint64(len(slab))
	}
	return words
}

// TestUnitsGoBack takes some, and takes that back: the memory and the words must be
// as they were, also in slabs that had been made larger.
func TestUnitsGoBack(t *testing.T) {
	for shift := range uint(4) {
		for before := range 12 {
			u := units{stride: 2, shift: shift}
			fill := func(n int) {
				for range n {
					i, err := u.take()
					if err != nil {
						t.Fatal(err)
					}
					u.at(i)[1] = uint64(i) + 1
				}
			}
			fill(before)
			c := u.checkpoint()
			fill(7)
			u.back(c)
			if u.n != before || held(&u) != u.words(before) {
				t.Fatalf("shift %d: %d units in %d words, want %d in %d", shift, u.n, held(&u), before, u.words(before))
			}
			for i := range before {
				if u.at(i)[1] != uint64(i)+1 {
					t.Fatalf("shift %d: unit %d of %d has lost its words", shift, i, before)
				}
			}
			for i := range 7 {
				n, err := u.take()
				if err != nil || n != before+i || u.at(n)[1] != 0 {
					t.Fatalf("shift %d: unit %d taken again: %v, %v", shift, n, u.at(n), err)
				}
			}
		}
	}
}

// TestRefusedSplitLeavesNoBits has splits that take several units, the first of them
// in the slab that is there and a later one in memory that is refused.
func TestRefusedSplitLeavesNoBits(t *testing.T) {
	refused := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 3))
		f := build(t, Shape{Universe: 1 << 16, IDBits: 16, Depth: 16, UnitBits: 4, Hashes: 1, Full: 1})
		for range 400 {
			id := rng.Uint64N(1 << 16)
			if probe.Reduce(f.hash(id), 4) > 0 && rng.IntN(20) > 0 {
				continue // most ids share a position, so that another one splits often
			}
			if f.units.n > 0 {
				f.units.from = mem.Heap{Limit: 8 * (f.units.words(f.units.n) + rng.Uint64N(8))}
			}
			if _, err := f.Add(filter.Key(id)); err != nil {
				refused++
			}
			f.units.from = mem.Heap{}
		}
		if err := f.check(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

func TestUnitsHaveALimit(t *testing.T) {
	u := units{stride: 1, n: maxNodes}
	if _, err := u.take(); !errors.Is(err, filter.ErrStorage) {
		t.Errorf("one more than there can be: %v", err)
	}
	u = units{stride: 100, from: mem.Heap{Limit: 799}}
	if _, err := u.take(); !errors.Is(err, filter.ErrStorage) || !errors.Is(err, mem.ErrMemory) {
		t.Errorf("a unit of 800 bytes where 799 are allowed: %v", err)
	}
}

// TestWholeSlabsAreLargeEnoughToBeChecked: package mem asks the machine from 64 MiB
// on, and a slab that is smaller would be taken unasked.
func TestWholeSlabsAreLargeEnoughToBeChecked(t *testing.T) {
	for _, stride := range []int{1, 20, 314, 1000, maxUnitBits / 64} {
		u := newUnits(stride)
		if bytes := 8 * stride << u.shift; bytes < 64<<20 || bytes >= 128<<20 {
			t.Errorf("units of %d words: slabs of %d bytes", stride, bytes)
		}
	}
}

// TestSlabsDoNotShow runs a filter whose slabs have two units beside one whose slab has
// them all.
func TestSlabsDoNotShow(t *testing.T) {
	c := Config{Universe: 1 << 20, Depth: 14, FPR: 0.01}
	f, g := filtertest.Make(t, New, c), filtertest.Make(t, New, c)
	f.units.shift = 1
	addUniform(t, f, 5000, 1)
	addUniform(t, g, 5000, 1)
	if err := f.check(); err != nil {
		t.Fatal(err)
	}
	if len(f.units.slabs) < 30 || len(g.units.slabs) != 1 {
		t.Errorf("%d and %d slabs", len(f.units.slabs), len(g.units.slabs))
	}
	for i := range uint64(20_000) {
		k := filtertest.Stream{Bits: 20}.Absent(i)
		if f.MayContain(k) != g.MayContain(k) {
			t.Fatalf("%d: %t and %t", k, f.MayContain(k), g.MayContain(k))
		}
	}
}
