package elastic

import (
	"runtime"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestSlowMemoryIsGivenBack looks at what the collector finds in use.
func TestSlowMemoryIsGivenBack(t *testing.T) {
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	f := filtertest.Make(t, New, Config{Items: 100_000, FPR: 0.01})
	small := inUse()
	if err := f.Grow(); err != nil {
		t.Fatal(err)
	}
	f.FinishResize()
	add(t, f, filtertest.Keys(1, 100)...)
	large := inUse()
	if err := f.Shrink(); err != nil {
		t.Fatal(err)
	}
	slow := f.Info().SlowBits / 8
	if after := inUse(); large < small+slow/2 || after > small+slow/4 {
		t.Errorf("%d bytes, %d when twice as large, %d when shrunk again", small, large, after)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if after := inUse(); after > small-slow/2 {
		t.Errorf("%d bytes, %d when closed, slow memory %d", small, after, slow)
	}
	runtime.KeepAlive(f)
}

// TestRefusedCompressionIsNotTriedForEveryKey has a filter whose buckets do not let it
// halve, and a set that stays as large as it is.
func TestRefusedCompressionIsNotTriedForEveryKey(t *testing.T) {
	effort.PlainOnly(t)
	f := filtertest.Make(t, New, Config{Items: 1 << 14, FPR: 0.01, Slots: 2})
	keys := filtertest.Keys(2, 1<<14)
	add(t, f, keys...)
	f.FinishResize()
	if f.table.set.Load() >= f.table.limit/4 || f.halve(1) == nil {
		t.Fatalf("%d of %d bits, %d doublings: it can be halved", f.table.set.Load(), f.Bits(), f.table.slow.doublings)
	}
	f.maybeShrink()
	thin := f.thin
	for range 100 {
		add(t, f, keys[0])
		remove(t, f, keys[0])
	}
	if set := f.table.set.Load(); thin >= set || f.thin != thin {
		t.Errorf("with %d set bits it is tried again at %d, before at %d", set, f.thin, thin)
	}
	remove(t, f, keys[1:]...)
	if f.table.slow.doublings != f.floor {
		t.Errorf("empty, and still %d doublings", f.table.slow.doublings)
	}
}
