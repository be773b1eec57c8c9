package filtertest

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// clearLeavesANewFilter clears filters that were changed in every way that leaves
// traces: by copies, deletes, unions and growth. Nothing may tell such a filter from
// one that was just made, neither at once nor when it is filled again.
func clearLeavesANewFilter(c checker) {
	for _, n := range []uint64{1, 300, effort.Pick[uint64](2000, 5000)} {
		stream := c.stream(n)
		keys := stream.Keys(2 * n)
		f, fresh := c.used(n, keys), c.make(n, 0.01)
		if err := filter.Clear(f); err != nil {
			c.Fatalf("clearing a filter of %d keys: %v", n, err)
		}
		state := c.state(fresh)
		c.wantSame(f, fresh.Info(), state, "a filter was cleared that a new one should equal: that")
		for i, k := range keys {
			if f.MayContain(k) || f.MayContain(stream.Absent(uint64(i))) {
				c.Fatalf("a filter of %d keys that was cleared finds present or absent key %d", n, i)
			}
		}
		c.addAll(f, keys[:n])
		c.addAll(fresh, keys[:n])
		state = c.state(fresh)
		c.wantSame(f, fresh.Info(), state, "a filter was cleared and filled as a new one was: that")
		c.wantAll(f, keys[:n], "cleared and filled again")
	}
}

// used returns a filter made for n keys that has seen a lot.
func (c checker) used(n uint64, keys []filter.Key) filter.Filter {
	f, other := c.make(n, 0.01), c.make(n, 0.01)
	c.addWhatFits(f, keys)
	c.addWhatFits(f, keys[:n/2])
	c.addWhatFits(other, keys[n/3:])
	_ = filter.Union(f, other) // some kinds cannot, or have no room
	for _, k := range keys[:n/4] {
		_ = filter.Delete(f, k)
	}
	_ = filter.Grow(f)
	return f
}

// concurrentClearIsSafe clears a filter beside writers and readers. Whatever is added
// after the last Clear must stay.
func concurrentClearIsSafe(c checker) {
	const clears = 20
	f := c.make(hammerWriters*hammerKeys, 0.01)
	var done atomic.Bool
	var users sync.WaitGroup
	for w := range uint64(hammerWriters) {
		users.Go(func() { c.scribble(f, w, &done) })
	}
	users.Go(func() { c.observe(f, &done) })
	for range clears {
		if err := filter.Clear(f); err != nil {
			c.Errorf("clearing beside others: %v", err)
		}
		runtime.Gosched()
	}
	keys := c.keys(127, hammerKeys)
	c.addAll(f, keys)
	done.Store(true)
	users.Wait()
	c.wantAll(f, keys, "added after the last Clear, beside others")
	if err := filter.Clear(f); err != nil {
		c.Errorf("clearing after others: %v", err)
	}
	if info := f.Info(); info.Keys != 0 || info.FPR != 0 {
		c.Errorf("after the last Clear: %+v", info)
	}
}

// scribble adds, asks for and deletes keys that may vanish at any time.
func (c checker) scribble(f filter.Filter, writer uint64, done *atomic.Bool) {
	keys := c.keys(131+writer, hammerKeys)
	r := rand.New(rand.NewPCG(writer, 137))
	for !done.Load() {
		k := keys[r.IntN(len(keys))]
		if _, err := f.Add(k); err != nil {
			c.Errorf("writer %d beside Clear: adding %#x: %v", writer, k, err)
			return
		}
		_ = f.MayContain(k)
		_ = filter.Delete(f, k)
		runtime.Gosched()
	}
}
