package elastic

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// lazyShape splits trees slowly: a tree at a time, if a test sets its pace.
var lazyShape = Shape{Bits: 1 << 9, Hashes: 4, HashBits: 50, Slots: 3, Branches: 3, Growth: 8, Threshold: 0.5}

// TestExpansionIsLazy holds that an expansion leaves the buckets alone. That of the
// published code splits all of them while nothing else can be done.
func TestExpansionIsLazy(t *testing.T) {
	f := build1(t, lazyShape)
	keys := filtertest.Keys(1, 60)
	add(t, f, keys...)
	set := f.table.set.Load()
	f.Grow()
	if trees := (uint64(512) + 2) / 3; f.Unsplit() != trees || f.table.set.Load() != 2*set {
		t.Errorf("%d trees are unsplit and %d bits set, want %d and %d", f.Unsplit(), f.table.set.Load(), trees, 2*set)
	}
	has(t, f, keys, "nothing split")
	for _, k := range keys {
		if !f.Contains(k) {
			t.Fatalf("%#x is not found in an unsplit tree", k)
		}
	}
	f.FinishResize()
	if f.Unsplit() != 0 || f.table.set.Load() >= 2*set {
		t.Errorf("split: %d trees left, %d bits", f.Unsplit(), f.table.set.Load())
	}
	has(t, f, keys, "split")
	intact(t, f, "split")
}

// TestTreesAreSplitWithinAQuarter adds keys until nothing is left to do.
func TestTreesAreSplitWithinAQuarter(t *testing.T) {
	for _, s := range []Shape{
		lazyShape,
		{Bits: 1 << 12, Hashes: 20, HashBits: 40, Slots: 8, Branches: 1, Growth: 8, Threshold: 0.5},
		{Bits: 1 << 12, Hashes: 5, HashBits: 40, Slots: 8, Branches: 3, Growth: 8, Threshold: 0.2},
	} {
		f := build1(t, s)
		keys := filtertest.Keys(2, 1<<14)
		n := 0
		for ; f.table.slow.unsplit.Load() == 0; n++ {
			add(t, f, keys[n])
		}
		full := n
		for ; f.table.slow.unsplit.Load() > 0; n++ {
			add(t, f, keys[n])
		}
		if n-full > full/4+1 {
			t.Errorf("%+v: expanded at %d keys, split at %d", s, full, n)
		}
	}
}

// TestChangesSplitTheirTrees stops the scan: only runs that are changed are split, and
// refused changes split nothing.
func TestChangesSplitTheirTrees(t *testing.T) {
	s := lazyShape
	s.Bits = 1 << 12 // 22 runs
	f := build1(t, s)
	keys := filtertest.Keys(3, 60)
	add(t, f, keys...)
	f.Grow()
	f.pace = 0
	before := f.table.slow.unsplit.Load()
	add(t, f, keys[0])
	f.Delete(filtertest.Stream{Seed: 3}.Absent(1))
	if f.table.slow.unsplit.Load() != before {
		t.Errorf("a duplicate or a refused delete split %d trees", before-f.table.slow.unsplit.Load())
	}
	remove(t, f, keys[0])
	if got := before - f.table.slow.unsplit.Load(); got == 0 || got > 4*runTrees {
		t.Errorf("a delete of four fingerprints split %d trees", got)
	}
	intact(t, f, "a few trees split")
	add(t, f, filtertest.Keys(4, 20)...)
	has(t, f, keys[1:], "some trees split")
	intact(t, f, "some trees split")
}

// TestOverflowInLazyPhaseSplitsFirst makes a tree overflow while others wait.
func TestOverflowInLazyPhaseSplitsFirst(t *testing.T) {
	f := build1(t, Shape{Bits: 64, Hashes: 1, HashBits: 40, Slots: 1, Branches: 3, Growth: 6, Threshold: 1})
	var in [][]uint64
	put := func(fp, bucket uint64) {
		x := []uint64{fp<<6 | bucket}
		if _, err := f.add(x); err != nil {
			t.Fatal(err)
		}
		in = append(in, x)
	}
	for bucket := range uint64(10) {
		put(bucket, 3*bucket)
	}
	f.Grow()
	f.pace = 0
	put(0b010, 30) // splits the tree of buckets 30 to 32, fills it, and overflows it:
	put(0b100, 30)
	put(0b110, 30)
	if f.table.slow.doublings < 2 || f.table.slow.unsplit.Load() == 0 {
		t.Errorf("%d doublings, %d unsplit: there was no overflow in a lazy phase", f.table.slow.doublings, f.table.slow.unsplit.Load())
	}
	for _, x := range in {
		if f.table.copies(x) != 1 {
			t.Errorf("%#x is there %d times", x, f.table.copies(x))
		}
	}
	intact(t, f, "overflowed")
}

// TestGrowIsAFloor holds that a filter which was told to grow does not shrink by
// itself, until it is told to.
func TestGrowIsAFloor(t *testing.T) {
	f := filtertest.Make(t, New, Config{Items: 1000, FPR: 0.01})
	keys := filtertest.Keys(6, 100)
	add(t, f, keys...)
	f.Grow()
	f.Grow()
	f.FinishResize()
	size := f.Bits()
	remove(t, f, keys[:60]...)
	if f.Bits() != size {
		t.Errorf("from %d to %d bits", size, f.Bits())
	}
	f.Shrink()
	remove(t, f, keys[60:]...)
	if f.Bits() != size/2 {
		t.Errorf("told to have %d bits, and has %d", size/2, f.Bits())
	}
}

// TestGrowthEndsWithTheFingerprintBits runs out of them: the filter refuses before
// anything has changed, and only what is new.
func TestGrowthEndsWithTheFingerprintBits(t *testing.T) {
	f := build1(t, Shape{Bits: 1 << 10, Hashes: 5, HashBits: 34, Slots: 6, Branches: 3, Growth: 2, Threshold: 0.4})
	keys := filtertest.Keys(7, 10_000)
	n := 0
	for ; n < len(keys); n++ {
		if _, err := f.Add(keys[n]); err != nil {
			break
		}
	}
	if want := float64(f.shape.Capacity()); float64(n) < 0.9*want || float64(n) > 1.1*want || f.Bits() != 1<<12 {
		t.Fatalf("%d keys fit, predicted %.0f; %d bits", n, want, f.Bits())
	}
	before := filtertest.Stored(t, f)
	added, err := f.Add(keys[n])
	if added || !errorsIs(err, filter.ErrFull) || string(before) != string(filtertest.Stored(t, f)) {
		t.Errorf("a key too many: %t, %v", added, err)
	}
	if err := f.Grow(); !errorsIs(err, filter.ErrFull) {
		t.Errorf("Grow: %v", err)
	}
	info := f.Info()
	if info.Unbounded || info.Capacity != f.shape.Capacity() || info.Overfull {
		t.Errorf("%+v", info)
	}
	add(t, f, keys[:n]...)
	remove(t, f, keys[0])
	add(t, f, keys[n])
	has(t, f, keys[1:n+1], "full")
}
