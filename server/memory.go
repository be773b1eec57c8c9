package server

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	someGarbage  = 32 << 20
	mostGarbage  = 1 << 30
	fewBytes     = 1 << 20 // that are allocated per second when nothing happens
	freeAgain    = 20      // seconds
	usualPercent = 100
)

// A collector sees to it that there is little garbage: 32 MiB beside a heap that is not much
// larger, a fifth of a large one, and a GiB at most. When nothing happens, memory that is
// not in use goes back to the system.
type collector struct {
	samples []metrics.Sample
	percent int
	seen    uint64 // bytes allocated, so far
	freed   uint64 // that when memory went back
	again   int    // seconds until more does: the log keeps some for a while
}

func newCollector() *collector {
	c := &collector{percent: usualPercent}
	for _, name := range []string{"/gc/heap/live:bytes", "/gc/heap/allocs:bytes"} {
		c.samples = append(c.samples, metrics.Sample{Name: name})
	}
	return c
}

// step is called once a second.
func (c *collector) step() {
	metrics.Read(c.samples)
	live, allocated := c.samples[0].Value.Uint64(), c.samples[1].Value.Uint64()
	if allocated-c.seen < fewBytes {
		c.rest(allocated)
	}
	c.seen = allocated
	c.set(percentFor(live))
}

// rest gives memory back, and once more after a while.
func (c *collector) rest(allocated uint64) {
	if allocated-c.freed > someGarbage/4 {
		c.again = freeAgain
	} else if c.again--; c.again != 0 {
		return
	}
	debug.FreeOSMemory()
	c.freed = allocated
}

// percentFor returns how much garbage there may be, as a share of a live heap.
func percentFor(live uint64) int {
	if live <= someGarbage {
		return usualPercent
	}
	return int(min(max(20, 100*someGarbage/live), max(2, 100*mostGarbage/live)))
}

func (c *collector) set(percent int) {
	if percent != c.percent {
		debug.SetGCPercent(percent)
		c.percent = percent
	}
}

// run works until ctx ends.
func (c *collector) run(ctx context.Context) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	before := debug.SetGCPercent(c.percent)
	defer debug.SetGCPercent(before)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			c.step()
		}
	}
}
