package elastic

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func build1(tb testing.TB, s Shape) *Filter {
	tb.Helper()
	return filtertest.Make(tb, Build, s)
}

// scale returns n, or a tenth of it in variants, where a test of one goroutine has
// little to find.
func scale(n int) int { return effort.PickVariant(n/10, n, n) }

func add(tb testing.TB, f *Filter, keys ...filter.Key) {
	tb.Helper()
	for i, k := range keys {
		if _, err := f.Add(k); err != nil {
			tb.Fatalf("adding key %d of %d, %#x: %v", i, len(keys), k, err)
		}
	}
}

func remove(tb testing.TB, f *Filter, keys ...filter.Key) {
	tb.Helper()
	for i, k := range keys {
		if err := f.Delete(k); err != nil {
			tb.Fatalf("deleting key %d of %d, %#x: %v", i, len(keys), k, err)
		}
	}
}

func has(tb testing.TB, f *Filter, keys []filter.Key, when string) {
	tb.Helper()
	for i, k := range keys {
		if !f.MayContain(k) {
			tb.Fatalf("%s: key %d of %d, %#x, is a false negative", when, i, len(keys), k)
		}
	}
}

func intact(tb testing.TB, f *Filter, when string) {
	tb.Helper()
	if err := f.check(); err != nil {
		tb.Fatalf("%s: %v", when, err)
	}
}

// prints returns the fingerprints of a bucket at the present size.
func (f *Filter) printsOf(index uint64) (out []uint64) {
	for x := range f.table.all() {
		if x&(f.Bits()-1) == index {
			out = append(out, x>>bits.Len64(f.Bits()-1))
		}
	}
	slices.Sort(out)
	return out
}

// TestWorkedExample is Figures 1 and 2 of [EBF21]: m = 4, w = 6, k = 1. An item
// with hash number 011110 goes to bucket 10 as 0111; after an expansion it is in
// bucket 110 as 011, and 0101 of bucket 0 has moved to bucket 4.
func TestWorkedExample(t *testing.T) {
	f := build1(t, Shape{Bits: 4, Hashes: 1, HashBits: 6, Slots: 4, Branches: 1, Growth: 4, Threshold: 1})
	const item = 0b0111_10
	numbers := []uint64{item, 0b0101_00, 0b0010_00, 0b1100_01, 0b0000_11}
	for _, x := range numbers {
		if _, err := f.add([]uint64{x}); err != nil {
			t.Fatal(err)
		}
	}
	if got := f.printsOf(0b10); !slices.Equal(got, []uint64{0b0111}) || f.table.set.Load() != 4 {
		t.Fatalf("bucket 10 holds %b, %d bits", got, f.table.set.Load())
	}
	if err := f.Grow(); err != nil {
		t.Fatal(err)
	}
	if a := f.fast.Load(); a.words[0] != 0xFF || f.table.slow.unsplit.Load() != 4 {
		t.Errorf("the expansion did not copy the bits: %b, %d unsplit", a.words[0], f.table.slow.unsplit.Load())
	}
	intact(t, f, "expanded, nothing split")
	f.FinishResize()
	for index, want := range map[uint64][]uint64{
		0b000: {0b001}, 0b100: {0b010}, 0b001: {0b110}, 0b010: nil, 0b110: {0b011}, 0b011: {0},
	} {
		if got := f.printsOf(index); !slices.Equal(got, want) {
			t.Errorf("bucket %03b holds %b, want %b", index, got, want)
		}
	}
	if a := f.fast.Load(); a.words[0] != 0b0101_1011 {
		t.Errorf("bits %b", a.words[0])
	}
	if err := f.delete([]uint64{item}); err != nil || f.fast.Load().words[0] != 0b0001_1011 {
		t.Errorf("deleting the item: %v, bits %b", err, f.fast.Load().words[0])
	}
	if err := f.Shrink(); err != nil || !slices.Equal(f.printsOf(0), []uint64{0b0010, 0b0101}) {
		t.Errorf("compression: %v, bucket 0 holds %b", err, f.printsOf(0))
	}
	intact(t, f, "compressed")
}

// TestOverflowDropsNothing forces overflows. The published code loses the
// fingerprint and overwrites its neighbour: 144 of 100,000 keys are false negatives at once,
// and 233 bits stay when all are deleted.
func TestOverflowDropsNothing(t *testing.T) {
	n := uint64(scale(10_000))
	for _, branches := range []int{1, 3} {
		f := build1(t, Shape{Bits: 1 << 10, Hashes: 4, HashBits: 40, Slots: 3, Branches: branches, Growth: 12, Threshold: 0.5})
		keys := filtertest.Keys(uint64(branches), n)
		add(t, f, keys...)
		has(t, f, keys, "after overflows")
		if f.Len() != n {
			t.Errorf("%d keys, want %d", f.Len(), n)
		}
		intact(t, f, "after overflows")
		remove(t, f, keys...)
		if f.table.set.Load() != 0 || f.table.prints.Load() != 0 || f.Len() != 0 {
			t.Errorf("%d branches: %d bits and %d fingerprints are left of nothing", branches, f.table.set.Load(), f.table.prints.Load())
		}
		intact(t, f, "emptied")
	}
}

// TestLevel2HoldsWhatLevel1Cannot looks into the trees. The published code has no
// level 2, and its load rate is infinite.
func TestLevel2HoldsWhatLevel1Cannot(t *testing.T) {
	f := build1(t, Shape{Bits: 64, Hashes: 1, HashBits: 40, Slots: 2, Branches: 3, Growth: 0, Threshold: 1})
	number := func(fp, bucket uint64) []uint64 { return []uint64{fp<<6 | bucket} }
	for fp := range uint64(3) {
		f.add(number(fp, 30))
		f.add(number(fp, 31))
	}
	tree := f.table.slow.tree(0, 10)
	if n := tree.shared().n; n != 2 || tree.lower(0).n != 2 {
		t.Fatalf("level 2 has %d, want 2", n)
	}
	if _, err := f.add(number(9, 31)); !errors.Is(err, filter.ErrFull) {
		t.Errorf("an overflow that cannot grow: %v", err)
	}
	if _, err := f.add(number(9, 32)); err != nil {
		t.Errorf("a branch with room: %v", err)
	}
	f.delete(number(0, 30)) // its slot is filled from level 2
	if n := tree.shared().n; n != 1 || tree.lower(0).n != 2 {
		t.Errorf("level 2 has %d after a delete, want 1", n)
	}
	intact(t, f, "pulled back")
	slots := (64 + 22) * 2.0
	if got := f.table.slotFill(); math.Abs(got-6/slots) > 1e-12 {
		t.Errorf("load rate %g", got)
	}
}

// TestDuplicatesNeedAllFingerprints offers a key all of whose bits are set and all
// of whose fingerprints but one are there. The published code compares 1 or 2 of k.
func TestDuplicatesNeedAllFingerprints(t *testing.T) {
	f := build1(t, Shape{Bits: 64, Hashes: 4, HashBits: 30, Slots: 8, Branches: 3, Growth: 4, Threshold: 1})
	f.add([]uint64{0x1001, 0x1002, 0x1003, 0x1004})
	for i := range 4 {
		almost := []uint64{0x1001, 0x1002, 0x1003, 0x1004}
		almost[i] += 1 << 20
		if err := f.delete(almost); !errors.Is(err, filter.ErrNotFound) || f.table.prints.Load() != 4 {
			t.Errorf("deleting a key of which three fingerprints are there: %v, %d left", err, f.table.prints.Load())
		}
		if added, err := f.add(almost); !added || err != nil {
			t.Errorf("fingerprint %d is new: %t, %v", i, added, err)
		}
		if added, err := f.add(almost); added || err != nil {
			t.Errorf("fingerprint %d again: %t, %v", i, added, err)
		}
		if err := f.delete(almost); err != nil || f.table.prints.Load() != 4 {
			t.Errorf("deleting it: %v, %d left", err, f.table.prints.Load())
		}
	}
	intact(t, f, "in the end")
}

// TestThresholdIsNeverPassed looks after every key, whose 5 bits are the most that
// it is passed by: 10 of twice as many when a doubling has copied them. The published
// code estimates the share of set bits from 256 of them, at one key in 1024, and has 5.6e-4 where
// its own bound is 3.2e-4.
func TestThresholdIsNeverPassed(t *testing.T) {
	f := build1(t, Shape{Bits: 1 << 10, Hashes: 5, HashBits: 40, Slots: 8, Branches: 3, Growth: 14, Threshold: 0.2})
	for i, k := range filtertest.Keys(3, uint64(scale(10_000))) {
		add(t, f, k)
		if fill := float64(f.table.set.Load()) / float64(f.Bits()); fill > 0.2+10/float64(f.Bits()) {
			t.Fatalf("after %d keys %.4f of %d bits are set, %d trees unsplit", i+1, fill, f.Bits(), f.table.slow.unsplit.Load())
		}
	}
}

// TestCompressionIsTheReverseOfExpansion compresses by itself, all the way to the
// initial size and not below, and expands again. The published code never
// compresses by itself, and what it merged is not split again.
func TestCompressionIsTheReverseOfExpansion(t *testing.T) {
	n := uint64(scale(10_000))
	f := build1(t, Shape{Bits: 1 << 10, Hashes: 5, HashBits: 44, Slots: 6, Branches: 3, Growth: 12, Threshold: 0.4})
	keys := filtertest.Keys(4, n)
	for round := range 2 {
		add(t, f, keys...)
		top := f.Bits()
		for i, k := range keys {
			remove(t, f, k)
			if i%2000 == 0 {
				has(t, f, keys[i+1:], "shrinking")
				intact(t, f, "shrinking")
			}
		}
		if f.Bits() != 1<<10 || f.table.set.Load() != 0 {
			t.Fatalf("round %d: from %d to %d bits, %d set", round, top, f.Bits(), f.table.set.Load())
		}
	}
	if err := f.Shrink(); !errors.Is(err, filter.ErrFull) {
		t.Errorf("shrinking below the initial size: %v", err)
	}
}

// TestCompressionRefusesToOverflow fills two twin buckets.
func TestCompressionRefusesToOverflow(t *testing.T) {
	for _, branches := range []int{1, 3} {
		f := build1(t, Shape{Bits: 64, Hashes: 1, HashBits: 40, Slots: 2, Branches: branches, Growth: 3, Threshold: 1})
		f.Grow()
		room := uint64(2)
		if branches > 1 {
			room = 4
		}
		for fp := range room + 1 {
			f.add([]uint64{fp<<6 | 5})
		}
		if err := f.Shrink(); !errors.Is(err, filter.ErrFull) || f.Bits() != 128 || f.table.prints.Load() != int64(room+1) {
			t.Errorf("%d branches: %v, %d bits, %d fingerprints", branches, err, f.Bits(), f.table.prints.Load())
		}
		intact(t, f, "refused")
		f.delete([]uint64{0<<6 | 5})
		if err := f.Shrink(); err != nil || f.Bits() != 64 || f.table.prints.Load() != int64(room) {
			t.Errorf("%d branches: %v, %d bits, %d fingerprints", branches, err, f.Bits(), f.table.prints.Load())
		}
		intact(t, f, "shrunk")
	}
}

// TestShrinkKeepsTheRate asks for a size at which the rate would be above the
// asked one.
func TestShrinkKeepsTheRate(t *testing.T) {
	f := filtertest.Make(t, New, Config{Items: 1000, FPR: 0.01})
	f.Grow()
	keys := filtertest.Keys(5, 1900)
	add(t, f, keys...)
	if err := f.Shrink(); !errors.Is(err, filter.ErrFull) || f.Bits() != 1<<15 {
		t.Errorf("%v, %d bits", err, f.Bits())
	}
	has(t, f, keys, "refused")
}

// TestEqualNumbersOfAKeyCountOnce has keys whose numbers are often equal.
func TestEqualNumbersOfAKeyCountOnce(t *testing.T) {
	f := build1(t, Shape{Bits: 4, Hashes: 8, HashBits: 5, Slots: 16, Branches: 3, Growth: 1, Threshold: 1})
	add(t, f, 1)
	if xs := f.numbersOf(1, nil); f.table.prints.Load() != int64(len(xs)) || len(xs) == 8 {
		t.Errorf("%d fingerprints, %d numbers", f.table.prints.Load(), len(xs))
	}
	remove(t, f, 1)
	if f.table.prints.Load() != 0 || f.table.set.Load() != 0 {
		t.Errorf("%d fingerprints are left", f.table.prints.Load())
	}
}
