package evergreen

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/line/linetest"
)

// TestReadersSeeThatABlockHasMoved asks only for keys of the one block that is split
// off and merged away all the time. A reader that does not look at the state a second
// time misses some of them.
func TestReadersSeeThatABlockHasMoved(t *testing.T) {
	prefetchAlways(t)
	for _, s := range []Shape{{FPR: 0.01, Hashes: 8, Width: 56}, {FPR: 1e-5, Hashes: 16, Width: 56}} {
		linetest.EachLevel(t, func(t *testing.T) {
			t.Helper()
			f, keys := toggled(t, s)
			var done atomic.Bool
			var readers sync.WaitGroup
			readers.Go(func() { askSingly(t, f, keys, &done) })
			readers.Go(func() { askInBatches(t, f, keys, &done) })
			toggle(t, f)
			done.Store(true)
			readers.Wait()
		})
	}
}

// toggled returns a filter and those of its keys that are in its last block.
func toggled(t *testing.T, s Shape) (f *Filter, keys []filter.Key) {
	t.Helper()
	f = mustBuild(t, s)
	for _, k := range filtertest.Keys(1, 2000) {
		if _, err := f.Add(k); err != nil {
			t.Fatal(err)
		}
		if place(f.tab().mixer.mix(k), minBlocks+1) == minBlocks {
			keys = append(keys, k)
		}
	}
	step(t, f.Grow)
	return f, keys
}

func toggle(t *testing.T, f *Filter) {
	t.Helper()
	for range effort.PickVariant(800, 5_000, 40_000) {
		step(t, f.Shrink)
		step(t, f.Grow)
	}
}

func askSingly(t *testing.T, f *Filter, keys []filter.Key, done *atomic.Bool) {
	t.Helper()
	for !done.Load() {
		for _, k := range keys {
			if !f.MayContain(k) {
				t.Errorf("%#x is absent after %d steps", k, f.tab().load()>>32)
				return
			}
		}
	}
}

func askInBatches(t *testing.T, f *Filter, keys []filter.Key, done *atomic.Bool) {
	t.Helper()
	out := make([]bool, len(keys))
	for !done.Load() {
		f.MayContainBatch(keys, out)
		for i, k := range keys {
			if !out[i] {
				t.Errorf("%#x is absent in a batch after %d steps", k, f.tab().load()>>32)
				return
			}
		}
	}
}
