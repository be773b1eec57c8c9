package main

import (
	"sync"
	"time"

	"github.com/everbloom-go/everbloom/internal/timing"
)

// chunk is how many keys are looked up between two looks at the clock: enough that reading the
// clock does not show, few enough that a slow filter does not overshoot its time by far.
const chunk = 4096

// A tally sums timed work.
type tally struct {
	clock   timing.Clock
	elapsed time.Duration
	keys    int
	yes     int // what the work returned: accepted, found or deleted
}

// time runs work over the keys of b.
func (t *tally) time(work func(block) int, b block) {
	start := t.clock()
	t.yes += work(b)
	t.elapsed += t.clock() - start
	t.keys += b.len()
}

func (t *tally) merge(u tally) {
	t.elapsed += u.elapsed
	t.keys += u.keys
	t.yes += u.yes
}

// perKey returns nanoseconds per key. For work by several threads at once it is the time one
// of them takes: it stays the same if they do not get in each other's way.
func (t tally) perKey() float64 {
	return float64(t.elapsed.Nanoseconds()) / float64(t.keys)
}

// together runs work on several goroutines and returns the sum. Threads that share a filter may
// wait for each other, so their clock is on the wall. One thread works in the calling
// goroutine, by its own clock, and a panic of the work can be caught by the caller.
func together(threads int, work func(thread int, c timing.Clock) tally) (sum tally) {
	if threads == 1 {
		return work(0, timing.Thread)
	}
	parts := make([]tally, threads)
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() { parts[i] = work(i, timing.Wall) })
	}
	wg.Wait()
	for _, t := range parts {
		sum.merge(t)
	}
	return sum
}

// A way leads to one operation of a set. Each thread takes it for itself, since the batch calls
// come with scratch memory.
type way func(set) func(block) int

func addOne(s set) func(block) int { return s.add }
func hasOne(s set) func(block) int { return s.has }

func addBatch(size int) way { return func(s set) func(block) int { return s.batch(size).add } }
func hasBatch(size int) way { return func(s set) func(block) int { return s.batch(size).has } }

// lookups asks for the keys of b, over and over if need be, for about as long as pass. They begin
// at from, each thread at a place of its own.
func lookups(s set, has way, b block, from, threads int, pass time.Duration) tally {
	return together(threads, func(thread int, c timing.Clock) tally {
		ask, t := has(s), tally{clock: c}
		for lo := (from + b.len()/threads*thread) % b.len(); t.elapsed < pass; lo += chunk {
			if lo >= b.len() {
				lo = 0
			}
			t.time(ask, b.slice(lo, min(lo+chunk, b.len())))
		}
		return t
	})
}

// fill adds all keys in the given order and finishes. There are as many threads as windows, and
// each has its own part of the keys.
func fill(s set, add way, keys keyspace, o *order, windows []block) (t tally, err error) {
	threads := uint64(len(windows))
	t = together(len(windows), func(thread int, c timing.Clock) tally {
		lo, hi := keys.n*uint64(thread)/threads, keys.n*uint64(thread+1)/threads
		return walk(add(s), keys, o.skip(lo), hi-lo, windows[thread], c)
	})
	if s.finish != nil {
		start := timing.Thread()
		err = s.finish()
		t.elapsed += timing.Thread() - start
	}
	return t, err
}

// walk gives the next n keys of an order to work, as many at a time as the window holds.
// Only the work is timed, not making the keys.
func walk(work func(block) int, keys keyspace, o *order, n uint64, window block, c timing.Clock) tally {
	t := tally{clock: c}
	for n > 0 {
		b := window.slice(0, int(min(n, uint64(window.len()))))
		keys.present(b, o)
		t.time(work, b)
		n -= uint64(b.len())
	}
	return t
}
