package filtertest

import (
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
)

// readersMayShare lets several goroutines read one filter: the race detector
// finds the kind whose queries write.
func readersMayShare(c checker) {
	keys := c.keys(97, 2000)
	f := c.filled(keys)
	var missing atomic.Int64
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			out := make([]bool, len(keys))
			filter.MayContainBatch(f, keys, out)
			for i, k := range keys {
				if !out[i] || !f.MayContain(k) {
					missing.Add(1)
				}
			}
			_ = f.Info()
		})
	}
	readers.Wait()
	if n := missing.Load(); n > 0 {
		c.Errorf("%d keys that are in the set were not found to readers side by side", n)
	}
}

// readersNeedNoLock reads keys that are in the set throughout while one writer adds
// further keys, merges and looks at the filter.
func readersNeedNoLock(c checker) {
	lasting, later := c.keys(111, 2000), c.keys(112, 8000)
	f, other := c.filled(lasting), c.filled(lasting)
	c.addAll(other, later[:100])
	var readers sync.WaitGroup
	var done atomic.Bool
	for r := range 2 {
		readers.Go(func() { c.watch(f, lasting, uint64(r), &done) })
	}
	c.addAll(f, later[:len(later)/2])
	_, _, _ = filter.AddBatch(f, later[len(later)/2:])
	_ = filter.Union(f, other)
	_ = filter.Intersect(f, other)
	c.checkInfo(f.Info())
	done.Store(true)
	readers.Wait()
	c.wantAll(f, lasting, "after changes beside readers")
}

const (
	hammerKeys    = 500 // per writer
	hammerWriters = 4
	hammerRounds  = 4
)

// concurrentUseIsSafe has writers that add, ask for and delete keys of their own,
// readers of keys that are always there, and others that look at the whole.
func concurrentUseIsSafe(c checker) {
	lasting := c.keys(101, 2000)
	f := c.make(2000+hammerWriters*hammerKeys, 0.01)
	c.addAll(f, lasting)
	kept := make([][]filter.Key, hammerWriters)

	var writers, others sync.WaitGroup
	var done atomic.Bool
	for w := range hammerWriters {
		writers.Go(func() { kept[w] = c.hammer(f, uint64(w)) })
	}
	for r := range 2 {
		others.Go(func() { c.watch(f, lasting, uint64(r), &done) })
	}
	others.Go(func() { c.observe(f, &done) })
	writers.Wait()
	done.Store(true)
	others.Wait()

	c.wantAll(f, lasting, "after concurrent use")
	total := len(lasting)
	for w, keys := range kept {
		c.wantAll(f, keys, "after concurrent use, keys of one writer")
		total += len(kept[w])
	}
	if info := f.Info(); info.Exact && info.Duplicates == filter.DuplicatesIgnored {
		c.checkKeys(info, uint64(total))
	}
}

// hammer adds and deletes keys that no other writer touches, and returns those that
// are in the set in the end.
func (c checker) hammer(f filter.Filter, writer uint64) []filter.Key {
	keys := c.keys(103+writer, hammerKeys)
	r := rand.New(rand.NewPCG(writer, 107))
	var mine Set
	for range hammerRounds * hammerKeys {
		k := keys[r.IntN(len(keys))]
		if !mine.Has(k) {
			if _, err := f.Add(k); err != nil {
				c.Errorf("writer %d: adding %#x: %v", writer, k, err)
				return nil
			}
			mine.Add(k)
		} else if err := filter.Delete(f, k); err == nil {
			mine.Remove(k)
		} else if !errors.Is(err, filter.ErrPinned) && !errors.Is(err, errors.ErrUnsupported) {
			c.Errorf("writer %d: deleting %#x: %v", writer, k, err)
			return nil
		}
		if mine.Has(k) && !f.MayContain(k) {
			c.Errorf("writer %d: its key %#x is in the set and was not found", writer, k)
			return nil
		}
	}
	return mine.Keys()
}

// watch asks for keys that are in the set all the time, single and in batches.
func (c checker) watch(f filter.Filter, lasting []filter.Key, reader uint64, done *atomic.Bool) {
	r := rand.New(rand.NewPCG(reader, 109))
	out := make([]bool, 50)
	for !done.Load() {
		first := r.IntN(len(lasting) - len(out))
		batch := lasting[first : first+len(out)]
		filter.MayContainBatch(f, batch, out)
		for i, yes := range out {
			if !yes || !f.MayContain(batch[i]) {
				c.Errorf("reader %d: key %#x was in the set all the time and was not found", reader, batch[i])
				return
			}
		}
		runtime.Gosched() // or kinds with one lock hardly let the writers in
	}
}

// observe does what an owner does beside its users: it looks, saves and resizes.
func (c checker) observe(f filter.Filter, done *atomic.Bool) {
	for !done.Load() {
		c.checkInfo(f.Info())
		_ = filter.Grow(f)
		if w, err := filter.Snapshot(f); err == nil {
			if _, err := w.WriteTo(io.Discard); err != nil {
				c.Errorf("writing a snapshot beside writers: %v", err)
			}
		}
		_ = filter.Shrink(f)
		runtime.Gosched()
	}
}
