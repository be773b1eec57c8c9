package mem

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// TestStepsFollowThePicture holds the table of the package comment.
func TestStepsFollowThePicture(t *testing.T) {
	a := NewArray(2, 8, Heap{})
	for _, tc := range []struct{ elements, capacity uint64 }{
		{0, 0},
		{1, 4},
		{4, 4},
		{5, 8},
		{8, 8},
		{9, 12},
		{3, 12},
		{100, 100},
		{127, 128},
		{129, 136},
		{137, 144},
		{256, 256},
		{257, 272},
		{1000, 1024},
		{1025, 1088},
	} {
		grow(t, a, tc.elements)
		if got := a.Cap(); got != tc.capacity {
			t.Errorf("Grow(%d): capacity %d, want %d", tc.elements, got, tc.capacity)
		}
	}
	for step := range 100 {
		if got := a.stepsFor(a.endOf(step)); got != step {
			t.Errorf("step %d ends at element %d, which is the end of step %d", step, a.endOf(step), got)
		}
	}
}

func TestElementsAreDistinctAndWhole(t *testing.T) {
	for _, first := range []int{0, 1, 3, 6, 12} {
		for _, stride := range []int{1, 3, 8} {
			t.Run(fmt.Sprintf("first=%d/stride=%d", first, stride), func(t *testing.T) {
				a := NewArray(first, stride, Heap{})
				const n = 300
				for i := range uint64(n) {
					grow(t, a, i+1)
					fill(a.At(i), i)
				}
				for i := range uint64(n) {
					checkElement(t, a, i, stride)
				}
			})
		}
	}
}

func checkElement(t *testing.T, a *Array, i uint64, stride int) {
	t.Helper()
	e := a.At(i)
	if len(e) != stride || cap(e) != stride {
		t.Fatalf("element %d: len %d, cap %d, want %d", i, len(e), cap(e), stride)
	}
	for j, w := range e {
		if w != i<<16|uint64(j) {
			t.Fatalf("element %d: word %d is %#x", i, j, w)
		}
	}
	if at := uintptr(unsafe.Pointer(&e[0])); stride%lineWords == 0 && at%lineBytes != 0 {
		t.Fatalf("element %d is not on a line", i)
	}
}

func TestGrowingMovesNothing(t *testing.T) {
	a := NewArray(1, 2, Heap{})
	grow(t, a, 2)
	before := a.At(1)
	grow(t, a, 1<<12)
	before[0] = 99
	if a.At(1)[0] != 99 {
		t.Error("element 1 has moved")
	}
}

func TestFailedGrowthChangesNothing(t *testing.T) {
	// The limit lets doublings of up to 64 elements pass, so that growth to 1000 fails
	// half way.
	a := NewArray(2, 1, Heap{Limit: 64 * wordBytes})
	grow(t, a, 10)
	fill(a.At(9), 9)
	err := a.Grow(1000)
	if !errors.Is(err, ErrMemory) || !strings.HasPrefix(err.Error(), "mem: array of 1000 elements of 1 words: mem: block of 1.00 KiB: at most 512 B") {
		t.Errorf("error %v", err)
	}
	if a.Cap() != 12 || a.At(12) != nil || a.At(9)[0] != 9<<16 {
		t.Errorf("capacity %d, element 16 %v, element 9 %v", a.Cap(), a.At(16), a.At(9))
	}
	grow(t, a, 128)
	if a.Cap() != 128 {
		t.Errorf("capacity %d after what is possible was asked for", a.Cap())
	}
}

func TestImpossibleGrowthIsRefused(t *testing.T) {
	for _, first := range []int{0, 8, 32} {
		a := NewArray(first, 8, Heap{})
		for _, elements := range []uint64{math.MaxUint64, 1 << 63, 1 << 50, 1 << 46, 1<<43 + 1} {
			if err := a.Grow(elements); !errors.Is(err, ErrMemory) || a.Cap() != 0 {
				t.Errorf("first %d: Grow(%d): error %v, capacity %d", first, elements, err, a.Cap())
			}
		}
	}
}

// TestHopelessGrowthTakesNothing holds that all segments are asked for in one sum: the
// smaller ones alone would be had.
func TestHopelessGrowthTakesNothing(t *testing.T) {
	f := createFile(t, filepath.Join(t.TempDir(), "words"))
	for name, from := range map[string]Allocator{"heap": Heap{}, "file": f} {
		a := NewArray(8, 8, from)
		before := heapUsage().objects
		if err := a.Grow(1 << 38); err == nil {
			t.Fatalf("%s: 16 TiB are to be had", name)
		}
		if a.held != 0 || f.end > mapUnit || heapUsage().objects > before+16<<20 {
			t.Errorf("%s: %d segments held, file of %d bytes, heap from %d to %d", name, a.held, f.end, before, heapUsage().objects)
		}
	}
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := NewArray(8, 8, f).Grow(1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("growing in a closed file: %v", err)
	}
}

func TestShrinkDropsWholeSteps(t *testing.T) {
	a := NewArray(2, 1, Heap{})
	grow(t, a, 64)
	held := a.At(40)
	held[0] = 5
	for _, tc := range []struct{ elements, capacity uint64 }{{100, 64}, {64, 64}, {61, 64}, {60, 60}, {5, 8}, {1, 4}, {0, 0}} {
		a.Shrink(tc.elements)
		if a.Cap() != tc.capacity {
			t.Errorf("Shrink(%d): capacity %d, want %d", tc.elements, a.Cap(), tc.capacity)
		}
	}
	if held[0] != 5 {
		t.Error("what a reader held has changed")
	}
	if a.At(40) != nil || a.At(0) != nil {
		t.Error("dropped elements are still there")
	}
	grow(t, a, 64)
	if e := a.At(40); e[0] != 0 || &e[0] == &held[0] {
		t.Error("new element is not zero, or is the one that the reader held")
	}
}

// TestShrinkKeepsFileMemory holds that readers of mapped memory never lose it, and that
// it is used again.
func TestShrinkKeepsFileMemory(t *testing.T) {
	f := createFile(t, filepath.Join(t.TempDir(), "words"))
	a := NewArray(10, 8, f)
	grow(t, a, 8000)
	held := a.At(7000)
	fill(held, 7000)
	size := f.end
	a.Shrink(1)
	if a.Cap() != 1024 || held[0] != 7000<<16 || a.At(7000) == nil {
		t.Errorf("capacity %d, held %v, At %v", a.Cap(), held, a.At(7000))
	}
	grow(t, a, 8000)
	if f.end != size {
		t.Errorf("file of %d bytes has %d after shrinking and growing", size, f.end)
	}
	if e := a.At(7000); &e[0] != &held[0] || slices.Max(e) != 0 {
		t.Errorf("element %v: not the same memory, or not zero", e)
	}
}

// TestFailedGrowthKeepsWhatCannotBeGivenBack has an allocator that is neither the heap
// nor endless.
func TestFailedGrowthKeepsWhatCannotBeGivenBack(t *testing.T) {
	from := &counted{left: 1}
	a := NewArray(0, 1, from)
	if err := a.Grow(20); err == nil || a.Cap() != 0 {
		t.Fatalf("error %v, capacity %d", err, a.Cap())
	}
	from.left = 1
	grow(t, a, 20)
	if from.left != 0 || a.Cap() != 20 {
		t.Errorf("%d blocks left, capacity %d", from.left, a.Cap())
	}
}

// counted gives a number of blocks.
type counted struct{ left int }

func (c *counted) Words(n uint64) ([]uint64, error) {
	if c.left == 0 {
		return nil, ErrMemory
	}
	c.left--
	return Words(n)
}

// TestReadersBesideOneWriter is for the race detector: readers ask for every element
// that was published while the array grows, and look at elements that are being dropped
// while it shrinks.
func TestReadersBesideOneWriter(t *testing.T) {
	for name, from := range map[string]Allocator{"heap": Heap{}, "file": createFile(t, filepath.Join(t.TempDir(), "words"))} {
		t.Run(name, func(t *testing.T) {
			a := NewArray(1, 2, from)
			var published atomic.Uint64
			var stop atomic.Bool
			var readers sync.WaitGroup
			for range 3 {
				readers.Go(func() {
					for i := uint64(0); !stop.Load(); i++ {
						readOne(t, a, published.Load(), i)
					}
				})
			}
			for range 5 {
				growAndShrink(t, a, &published)
			}
			stop.Store(true)
			readers.Wait()
		})
	}
}

func readOne(t *testing.T, a *Array, n, i uint64) {
	t.Helper()
	if n == 0 {
		return
	}
	i %= n
	e := a.At(i)
	if e == nil {
		return // dropped since n was read
	}
	if w := atomic.LoadUint64(&e[0]); w != 0 && w != i+1 {
		t.Errorf("element %d holds %d", i, w)
	}
	if a.Cap() > 1<<30 {
		t.Error("impossible capacity")
	}
}

func growAndShrink(t *testing.T, a *Array, published *atomic.Uint64) {
	t.Helper()
	for n := uint64(1); n <= 2000; n++ {
		grow(t, a, n)
		atomic.StoreUint64(&a.At(n - 1)[0], n)
		published.Store(n)
	}
	published.Store(10)
	a.Shrink(10)
}

func grow(t *testing.T, a *Array, elements uint64) {
	t.Helper()
	if err := a.Grow(elements); err != nil {
		t.Fatal(err)
	}
}

// fill gives an element words of its own.
func fill(element []uint64, i uint64) {
	for j := range element {
		element[j] = i<<16 | uint64(j)
	}
}
