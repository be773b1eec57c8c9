package evergreen

import (
	"errors"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// memoryInUse returns the memory that the Go runtime counts for its limit.
func memoryInUse() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64() - s[2].Value.Uint64())
}

// TestFiltersFillAMemoryLimit adds keys until the limit of the process refuses more:
// nine tenths of what it leaves must hold keys by then, and nothing is lost.
func TestFiltersFillAMemoryLimit(t *testing.T) {
	effort.PlainOnly(t)
	debug.FreeOSMemory()
	const room = 24 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryInUse() + room))
	f := filtertest.Make(t, New, Config{FPR: 0.01})
	var stream filtertest.Stream
	n, err := uint64(0), error(nil)
	for ; err == nil && n < 10_000_000; n++ {
		_, err = f.Add(stream.Present(n))
	}
	n--
	if !errors.Is(err, filter.ErrStorage) {
		t.Fatalf("after %d keys: %v", n, err)
	}
	info := f.Info()
	if own := (info.FastBits + info.SlowBits) / 8; own < room*9/10 || info.Keys != n {
		t.Errorf("%d of %d keys, %d bytes, are %.1f %% of the limit: %v", info.Keys, n, own, 100*float64(own)/room, err)
	}
	for i := range n {
		if !f.MayContain(stream.Present(i)) {
			t.Fatalf("key %d of %d is absent", i, n)
		}
	}
	if f.Contains(stream.Present(n)) {
		t.Error("the key that was refused is there")
	}
	debug.SetMemoryLimit(memoryInUse() + 2*room)
	if added, err := f.Add(stream.Present(n)); !added || err != nil {
		t.Errorf("with a higher limit: %v, %v", added, err)
	}
}

// TestLittleMemoryWaitsForKeys compares what the heap counts with the keys, at sizes
// where steps have just been taken and others.
func TestLittleMemoryWaitsForKeys(t *testing.T) {
	effort.PlainOnly(t)
	before := heapBytes()
	f := filtertest.Make(t, New, Config{FPR: 0.01})
	var stream filtertest.Stream
	n := uint64(0)
	for size := 5e5; size < 1.1e6; size *= 1.03 {
		for ; n < uint64(size); n++ {
			if _, err := f.Add(stream.Present(n)); err != nil {
				t.Fatal(err)
			}
		}
		if bits := 8 * float64(heapBytes()-before) / float64(n); bits > 95 {
			t.Errorf("%d keys: %.1f bits of heap each, want 95 at most", n, bits)
		}
	}
}
