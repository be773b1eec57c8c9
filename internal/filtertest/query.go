package filtertest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// noFalseNegatives tries sizes from one key on and rates from silly to
// strict: geometries at the edge are where positions run out of range.
func noFalseNegatives(c checker) {
	for _, n := range []uint64{1, 2, 3, 7, 64, 1000} {
		for _, fpr := range []float64{0.3, 0.01, 1e-6} {
			c.addAndAsk(n, fpr)
		}
	}
	c.addAndAsk(effort.Pick[uint64](10_000, 100_000), 0.01)
}

// addAndAsk fills a filter and asks for each key right after its Add and in the
// end.
func (c checker) addAndAsk(n uint64, fpr float64) {
	keys := c.keys(n, n)
	f := c.make(n, fpr)
	for i, k := range keys {
		if _, err := f.Add(k); err != nil {
			c.Fatalf("%d keys at rate %g: adding key %d: %v", n, fpr, i, err)
		}
		if !f.MayContain(k) {
			c.Fatalf("%d keys at rate %g: key %d, %#x, is not found right after Add", n, fpr, i, k)
		}
	}
	c.wantAll(f, keys, fmt.Sprintf("%d keys at rate %g", n, fpr))
}

// emptyFilterHasNoKeys allows a tenth of the asked rate, for kinds that are never
// quite empty.
func emptyFilterHasNoKeys(c checker) {
	const probes = 10_000
	f := c.make(1000, 0.01)
	if hits := MeasureRate(f, c.stream(5), probes); hits > probes/1000 {
		c.Errorf("an empty filter finds %d of %d keys", hits, probes)
	}
	if info := f.Info(); info.Keys != 0 || info.FPR > 0.001 || info.Overfull {
		c.Errorf("an empty filter has %d keys, rate %g, overfull %t", info.Keys, info.FPR, info.Overfull)
	}
}

// fullFilterRefusesWithoutChange fills the filter far beyond what it was made
// for. Most kinds never refuse; a refusal must leave everything as it was, and so
// be repeatable.
func fullFilterRefusesWithoutChange(c checker) {
	f := c.make(500, 0.01)
	keys := c.keys(17, 10_000)
	n := c.addWhatFits(f, keys)
	if n < 500 {
		c.Fatalf("a filter made for 500 keys is full after %d", n)
	}
	c.wantAll(f, keys[:n], "filled to the brim")
	if n == len(keys) {
		return
	}
	state, info := c.state(f), f.Info()
	if added, err := f.Add(keys[n]); added || !errors.Is(err, filter.ErrFull) {
		c.Errorf("a key that was refused, added again: added %t, error %v; want ErrFull", added, err)
	}
	done, _, err := filter.AddBatch(f, keys[n:n+1])
	if done != 0 || !errors.Is(err, filter.ErrFull) {
		c.Errorf("a key that was refused, added in a batch: done %d, error %v; want ErrFull", done, err)
	}
	c.wantSame(f, info, state, "refusing with ErrFull")
	c.wantAll(f, keys[:n], "after ErrFull")
}

// wantSame checks that f is as it was when info and state were taken.
func (c checker) wantSame(f filter.Filter, info filter.Info, state []byte, after string) {
	if got := f.Info(); !reflect.DeepEqual(got, info) {
		c.Errorf("%s changed the filter: Info was\n%+v and is\n%+v", after, info, got)
	}
	if !bytes.Equal(c.state(f), state) {
		c.Errorf("%s changed the filter: its snapshot is another", after)
	}
}

// nothingIsAllocated counts over many calls together: an average per call would
// hide an allocation at every second one. A kind that grows by itself may
// allocate now and then in Add and Delete.
func nothingIsAllocated(c checker) {
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
