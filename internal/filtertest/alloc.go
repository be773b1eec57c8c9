package filtertest

import (
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// nothingIsAllocated counts over many calls together: an average per call would
// hide an allocation at every second one. A kind that grows by itself may
// allocate now and then in Add and Delete.
func (c checker) nothingIsAllocated() {
	const calls = 1000
	keys := c.keys(29, 8*calls)
	out := make([]bool, calls)
	f := c.make(uint64(len(keys)), 0.01)
	growth := 0.0
	if f.Info().Unbounded {
		growth = calls / 50
	}
	next := 0 // of the keys that are not in the set yet
	c.wantAllocs("Add", growth, func() {
		c.addAll(f, keys[next:next+calls])
		next += calls
	})
	c.wantAllocs("AddBatch", growth, func() {
		_, _, _ = filter.AddBatch(f, keys[next:next+calls])
		next += calls
	})
	c.wantAllocs("MayContain", 0, func() {
		for i, k := range keys[:calls] {
			out[i] = f.MayContain(k)
		}
	})
	c.wantAllocs("MayContainBatch", 0, func() { filter.MayContainBatch(f, keys[:calls], out) })
	if deletes(f) {
		next = 0
		c.wantAllocs("Delete", growth, func() {
			for _, k := range keys[next : next+calls/2] {
				_ = filter.Delete(f, k)
				_ = filter.Delete(f, k) // absent, or pinned
			}
			next += calls / 2
		})
	}
}

// wantAllocs checks that f makes at most so many allocations. It runs up to four
// times: the fewest count, since the runtime allocates now and then, too.
func (c checker) wantAllocs(name string, most float64, f func()) {
	fewest := math.Inf(1)
	for range 2 {
		if fewest = min(fewest, testing.AllocsPerRun(1, f)); fewest <= most {
			return
		}
	}
	c.Errorf("%s allocates %.0f times in 1000 calls, want %.0f at most", name, fewest, most)
}
