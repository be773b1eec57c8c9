package mem

import (
	"math"
	"runtime"
	"testing"
	"unsafe"
)

// TestLinesAreDistinctAndWhole grows line by line through some doublings and back.
func TestLinesAreDistinctAndWhole(t *testing.T) {
	const most = 5000
	l := NewLines()
	if l.At(0) != nil || l.At(1<<40) != nil || l.Bytes() != 0 {
		t.Error("there are lines to begin with")
	}
	for n := uint64(1); n <= most; n++ {
		growLines(t, l, n)
		l.At(n - 1)[7] = n
		if l.Bytes() != LinesBytes(n) {
			t.Fatalf("%d lines take %d bytes, want %d", n, l.Bytes(), LinesBytes(n))
		}
		if waste := l.Bytes() - 64*n; waste > 600+2*n { // a step, and the directory
			t.Fatalf("%d lines take %d bytes more than they have", n, waste)
		}
	}
	for n := uint64(most); n > 0; n-- {
		if line := l.At(n - 1); line[7] != n || uintptr(unsafe.Pointer(line))%lineBytes != 0 {
			t.Fatalf("line %d at %p holds %d", n-1, line, line[7])
		}
		l.Shrink(n - 1)
		if l.Bytes() != LinesBytes(n-1) || l.At(n+1000) != nil {
			t.Fatalf("%d lines take %d bytes, want %d; line %d: %p", n-1, l.Bytes(), LinesBytes(n-1), n+1000, l.At(n+1000))
		}
	}
	growLines(t, l, most)
	for i := range uint64(most) {
		if *l.At(i) != (Line{}) {
			t.Fatalf("line %d is not zero after all were dropped", i)
		}
	}
}

// TestLinesTakeNoMoreOfTheHeap compares Bytes with what the heap counts, the least of
// several times: the runtime and the tests before may have garbage of their own.
func TestLinesTakeNoMoreOfTheHeap(t *testing.T) {
	for _, n := range []uint64{700, 3000, 30_000} {
		got, want := math.Inf(1), 0.0
		for range 5 {
			runtime.GC()
			before := heapUsage().objects
			l := NewLines()
			for i := range n {
				growLines(t, l, i+1)
			}
			runtime.GC()
			got, want = min(got, float64(heapUsage().objects)-float64(before)), float64(l.Bytes())
			runtime.KeepAlive(l)
		}
		if got > want*1.01+1024 { // the rounding of the directory, and the array itself
			t.Errorf("%d lines: %.0f bytes of the heap, want %.0f", n, got, want)
		}
	}
}

func TestLinesRefuseTheImpossible(t *testing.T) {
	l := NewLines()
	growLines(t, l, 100)
	if err := l.Grow(1 << 43); err == nil || l.Cap() != 104 || l.At(104) != nil {
		t.Errorf("error %v, capacity %d", err, l.Cap())
	}
}

func growLines(t *testing.T, l *Lines, n uint64) {
	t.Helper()
	if err := l.Grow(n); err != nil {
		t.Fatal(err)
	}
}
