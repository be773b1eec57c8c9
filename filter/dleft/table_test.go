package dleft

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestComparisonsAreExact fills buckets of every width with remainders that are
// near each other, so that borrows and carries would show, and all counters.
func TestComparisonsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for width := 2; width <= maxWidth; width++ {
		for range 40 {
			counter := 1 + rng.IntN(min(width-1, maxField))
			if width-counter > maxField {
				counter = width - maxField
			}
			s := Shape{Subtables: 2, Buckets: 3, Cells: 1 + rng.IntN(maxCells), Remainder: width - counter, Counter: counter}
			if width == 16 && rng.IntN(2) == 0 {
				s.Cells = 8
			}
			compareBuckets(t, build(t, s), rng)
		}
	}
}

// compareBuckets checks find and load against a walk over the cells.
func compareBuckets(t *testing.T, f *Filter, rng *rand.Rand) {
	t.Helper()
	most := uint64(1)<<f.remainder - 1
	near := func() uint64 {
		return []uint64{0, 0, 1, 2, most, most - 1, most/2 + 1, rng.Uint64N(most + 1)}[rng.IntN(8)] & most
	}
	for cell := range f.shape.cells() {
		if remainder := near(); remainder != 0 {
			f.set(cell, remainder, rng.Uint64N(f.stick+1))
		}
	}
	for bucket := range f.shape.buckets() {
		for range 20 {
			want := near()
			cell, ok := f.find(bucket, want)
			wantCell, wantOK, load, n := uint64(0), false, uint64(0), 0
			for c := bucket * f.perBucket; c < (bucket+1)*f.perBucket; c++ {
				remainder, _ := f.get(c)
				if remainder == want && !wantOK {
					wantCell, wantOK = c, true
				}
				if remainder == want {
					n++
				}
				if remainder != 0 {
					load++
				}
			}
			if ok != wantOK || ok && cell != wantCell || f.load(bucket) != load || f.countOf(bucket, want) != n {
				t.Fatalf("%+v, bucket %d, remainder %#x: cell %d, %t, load %d, want %d, %t, %d",
					f.shape, bucket, want, cell, ok, f.load(bucket), wantCell, wantOK, load)
			}
		}
	}
}

// TestTwinBucketsNeverStraddleLines: they have 16 bytes, four to a line.
func TestTwinBucketsNeverStraddleLines(t *testing.T) {
	f := build(t, Shape{Subtables: 4, Buckets: 33, Cells: 8, Remainder: 14, Counter: 2})
	if len(f.twins) != 4*33 || &f.twins[0][0] != &f.words[0] {
		t.Fatalf("%d twin buckets in %d words", len(f.twins), len(f.words))
	}
	for i := range f.twins {
		if at := uintptr(unsafe.Pointer(&f.twins[i])); at%16 != 0 || i == 0 && at%64 != 0 {
			t.Fatalf("bucket %d begins at %#x", i, at)
		}
	}
}
