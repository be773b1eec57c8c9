package everbloom

import (
	"runtime"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestSetsOfFewKeysAreSmall measures the heap of sets with a hundred keys.
func TestSetsOfFewKeysAreSmall(t *testing.T) {
	effort.OneGoroutine(t)
	const sets, keys, limit = 2000, 100, 1200
	var before, after runtime.MemStats
	all := make([]*Set, sets)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range all {
		all[i] = filled(t, Needs{Items: keys, FPR: 0.01, Delete: true}, i, i+keys)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if perSet := int64(after.HeapAlloc-before.HeapAlloc) / sets; perSet > limit {
		t.Errorf("%d bytes of heap for a set of %d keys, limit %d", perSet, keys, limit)
	} else {
		t.Logf("%d bytes", perSet)
	}
	runtime.KeepAlive(all)
}
