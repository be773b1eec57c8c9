package perennial

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// bars are how many bits a key may take, of all memory that is reserved, from leastKeys on.
var bars = []struct {
	fpr                    float64
	most, mean, afterwards float64 // growing, on average over all sizes, shrinking to a hundredth
}{
	{0.01, 16.9, 16.4, 17.5},
	{0.001, 20.6, 20.1, 21.5},
}

const leastKeys = 20_000

// reserved returns what Info should say for a ring of so many lines.
func reserved(lines uint64) float64 {
	return float64(8*mem.LinesBytes(lines) + 32*sequencesFor(layoutOf(lines)))
}

// TestKeysTakeFewBitsAtEverySize computes the memory of every number of lines up to fifty
// million keys. A number of lines is worst when the first key needs it that does.
func TestKeysTakeFewBitsAtEverySize(t *testing.T) {
	effort.PlainOnly(t)
	for _, bar := range bars {
		s, err := Config{FPR: bar.fpr}.Shape()
		if err != nil {
			t.Fatal(err)
		}
		worst, at, sum, sizes := 0.0, 0.0, 0.0, 0.0
		for lines := s.linesFor(leastKeys); ; lines++ {
			first, next := s.room(layoutOf(lines-1)), s.room(layoutOf(lines))
			if first > 50e6 {
				break
			}
			bits := reserved(lines) / (math.Floor(first) + 1)
			if bits > worst {
				worst, at = bits, first
			}
			share := math.Log(next / first) // sizes are spread evenly by their logarithm
			sum, sizes = sum+share*bits, sizes+share
		}
		t.Logf("%g: at most %.2f bits, at %.0f keys, %.2f on average", bar.fpr, worst, at, sum/sizes)
		if worst > bar.most || sum/sizes > bar.mean {
			t.Errorf("%g: at most %.3f bits, at %.0f keys, %.3f on average, want %g and %g", bar.fpr, worst, at, sum/sizes, bar.most, bar.mean)
		}
	}
}

// TestKeysTakeTheBitsThatInfoTells grows and shrinks filters. Voids take slots that
// TestKeysTakeFewBitsAtEverySize does not know of.
func TestKeysTakeTheBitsThatInfoTells(t *testing.T) {
	effort.PlainOnly(t)
	most := effort.Pick[uint64](120_000, 3_000_000)
	for _, bar := range bars {
		f := filtertest.Make(t, New, Config{FPR: bar.fpr})
		stream := filtertest.Stream{Seed: 1}
		for n := uint64(1); n <= most; n++ {
			if _, err := f.Add(stream.Present(n)); err != nil {
				t.Fatal(err)
			}
			if n >= leastKeys {
				wantBits(t, f, bar.fpr, bar.most)
			}
		}
		for n := most; n > max(most/100, leastKeys); n-- {
			if err := f.Delete(stream.Present(n)); err != nil {
				t.Fatal(err)
			}
			wantBits(t, f, bar.fpr, bar.afterwards)
		}
	}
}

func wantBits(t *testing.T, f *Filter, fpr, most float64) {
	t.Helper()
	r := f.ring.Load()
	if told := 8*r.lines.Bytes() + 32*uint64(len(*r.seqs.Load())); float64(told) != reserved(r.layout.total) {
		t.Fatalf("%g: %d lines have %d bits, want %.0f", fpr, r.layout.total, told, reserved(r.layout.total))
	}
	if bits := f.Info().BitsPerKey(); bits > most {
		t.Fatalf("%g: %d keys take %.3f bits each, want %g at most", fpr, f.Len(), bits, most)
	}
}

// heapBytes returns the memory of objects that are in use, without pools of workspaces,
// which two collections empty.
func heapBytes() float64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s) // the first call of a process allocates
	runtime.GC()
	runtime.GC()
	metrics.Read(s)
	return float64(s[0].Value.Uint64())
}

// TestTheHeapCountsWhatInfoTells allows for the filter itself, besides its tables, and for two
// threads that the runtime may start meanwhile.
func TestTheHeapCountsWhatInfoTells(t *testing.T) {
	effort.PlainOnly(t)
	var stream filtertest.Stream
	before := heapBytes()
	f := filtertest.Make(t, New, Config{FPR: 0.01})
	for n := range uint64(400_000) {
		if _, err := f.Add(stream.Present(n)); err != nil {
			t.Fatal(err)
		}
		if n >= leastKeys && n%40_000 == 0 {
			got, want := heapBytes()-before, float64(f.Info().FastBits)/8
			if got > want+2048+2*6144 {
				t.Errorf("%d keys take %.0f bytes of the heap, want %.0f", n+1, got, want)
			}
		}
	}
}

// TestOneOperationTouchesFewLines counts the lines that adding and deleting rewrite.
func TestOneOperationTouchesFewLines(t *testing.T) {
	effort.PlainOnly(t)
	const bar = 200
	for _, width := range []uint64{minWidth, 12, 15} {
		f := filtertest.Make(t, Build, Shape{Lines: minLines, Width: width, Fill: defaultFill, FPR: 0.5})
		r := f.ring.Load()
		stream := filtertest.Stream{Seed: width}
		n := effort.Pick[uint64](50_000, 2_000_000)
		var most uint64
		for i := range 2 * n {
			before := r.written
			if i < n {
				f.Add(stream.Present(i))
			} else if err := f.Delete(stream.Present(i - n)); err != nil {
				t.Fatal(err)
			}
			most = max(most, r.written-before)
		}
		t.Logf("slots of %d bits: at most %d lines", width, most)
		if most > bar {
			t.Errorf("slots of %d bits: one operation wrote %d lines, want %d at most", width, most, bar)
		}
	}
}
