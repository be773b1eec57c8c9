package evergreen

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/line/linetest"
)

// TestReadersNeverMissWhatIsThere has readers ask for keys that are in the set all
// the time, one by one and in batches, while writers make the filter grow and
// shrink by adding and deleting others, and another goroutine resizes it and
// takes snapshots.
func TestReadersNeverMissWhatIsThere(t *testing.T) {
	Eager(t)
	for _, s := range []Shape{
		{FPR: 0.001, Hashes: 8, Width: 56},
		{FPR: 1e-5, Hashes: 16, Width: 40},
	} {
		linetest.EachLevel(t, func(t *testing.T) {
			t.Helper()
			newHammer(t, s).run()
		})
	}
}

// A hammer is a filter that many use at once.
type hammer struct {
	*testing.T
	f       *Filter
	present []filter.Key // keys that stay
	waves   int          // of each writer
	wave    int          // keys that a writer adds and deletes again
	done    atomic.Bool
	writers sync.WaitGroup
	others  sync.WaitGroup
}

func newHammer(t *testing.T, s Shape) *hammer {
	t.Helper()
	h := &hammer{
		T: t, f: mustBuild(t, s),
		present: filtertest.Keys(1, effort.Pick[uint64](1000, 5000)),
		waves:   effort.PickVariant(1, 1, 4),
		wave:    effort.PickVariant(1000, 2000, 20_000),
	}
	if _, _, err := h.f.AddBatch(h.present); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *hammer) run() {
	before := h.f.tab().load()
	for r := range uint64(2) {
		h.others.Go(func() { h.read(r) })
	}
	h.others.Go(h.disturb)
	// A slow machine may be at a snapshot all the time that the writers take.
	for tries := 0; tries < 50 && !h.Failed() && h.f.tab().load()>>32-before>>32 < 100; tries++ {
		for w := range uint64(3) {
			h.writers.Go(func() { h.write(w) })
		}
		h.writers.Wait()
	}
	h.done.Store(true)
	h.others.Wait()
	if steps := h.f.tab().load()>>32 - before>>32; steps < 100 {
		h.Errorf("there were %d splits and merges, too few to test anything", steps)
	}
	if err := h.f.check(); err != nil {
		h.Error(err)
	}
	if n := h.f.Len(); n != uint64(len(h.present)) {
		h.Errorf("%d keys are left, want %d", n, len(h.present))
	}
}

// write adds keys of its own and deletes them again, in another order.
func (h *hammer) write(w uint64) {
	rng := rand.New(rand.NewPCG(w, 1))
	keys := filtertest.Keys(100+w, uint64(h.wave))
	for range h.waves {
		for _, k := range keys {
			if added, err := h.f.Add(k); err != nil || !added && h.f.tab().exact {
				h.Errorf("writer %d: adding %#x: %v, %v", w, k, added, err)
				return
			}
		}
		rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for _, k := range keys {
			if !h.f.MayContain(k) {
				h.Errorf("writer %d: its key %#x is absent", w, k)
				return
			}
			if err := h.f.Delete(k); err != nil {
				h.Errorf("writer %d: deleting %#x: %v", w, k, err)
				return
			}
		}
	}
}

// read asks for present keys.
func (h *hammer) read(r uint64) {
	rng := rand.New(rand.NewPCG(r, 2))
	out := make([]bool, 100)
	for !h.done.Load() {
		first := rng.IntN(len(h.present) - len(out))
		batch := h.present[first : first+len(out)]
		h.f.MayContainBatch(batch, out)
		for i, k := range batch {
			if !out[i] || !h.f.MayContain(k) {
				h.Errorf("reader %d: key %#x was there all the time and is absent (batch: %v)", r, k, out[i])
				return
			}
		}
		if k := batch[rng.IntN(len(batch))]; !h.f.Contains(k) {
			h.Errorf("reader %d: Contains does not find %#x", r, k)
			return
		}
	}
}

// disturb resizes, takes snapshots and counts. Every snapshot must have the present
// keys.
func (h *hammer) disturb() {
	for !h.done.Load() {
		for range 10 {
			h.f.Grow()
			h.f.Grow()
			h.f.Shrink()
		}
		h.f.Info()
		g, err := h.f.Clone()
		if err != nil {
			h.Error(err)
			return
		}
		if err := g.check(); err != nil {
			h.Errorf("a clone beside writers: %v", err)
			return
		}
		wantKeys(h, g, h.present)
		h.f.tab().size.Lock()
		h.f.tab().size.floor.Store(minBlocks) // or it would never shrink any more
		h.f.tab().size.Unlock()
	}
}

// TestSnapshotBesideWritersIsWhole writes and reads snapshots while others write:
// what is read passes all checks of a file, and has every key that was there from
// the beginning to the end.
func TestSnapshotBesideWritersIsWhole(t *testing.T) {
	h := newHammer(t, Shape{FPR: 0.01, Hashes: 8, Width: 56})
	h.waves = 1
	for w := range uint64(2) {
		h.writers.Go(func() { h.write(w) })
	}
	for range 5 {
		var b bytes.Buffer
		if _, err := h.f.Snapshot().WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		g, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		wantKeys(t, g, h.present)
	}
	h.writers.Wait()
}

// TestMergesOfBusyFilters unites and intersects filters with each other, both ways
// at once, which must neither hang nor lose common keys.
func TestMergesOfBusyFilters(t *testing.T) {
	common := filtertest.Keys(5, 3000)
	shape := Shape{FPR: 0.01, Hashes: 8, Width: 56}
	a, b := mustBuild(t, shape), mustBuild(t, shape)
	for i, f := range []*Filter{a, b} {
		f.AddBatch(common)
		f.AddBatch(filtertest.Keys(6+uint64(i), 2000))
	}
	var group sync.WaitGroup
	for _, run := range []func() error{
		func() error { return a.Union(b) },
		func() error { return b.Union(a) },
		func() error { return a.Intersect(b) },
		func() error { return b.Intersect(a) },
	} {
		group.Go(func() {
			if err := run(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, k := range common {
		if !a.Contains(k) || !b.Contains(k) {
			t.Fatalf("%#x, which was in both, is gone", k)
		}
	}
	for _, f := range []*Filter{a, b} {
		if err := f.check(); err != nil {
			t.Error(err)
		}
	}
}

// TestWhatGrowAskedForStays has Grow beside deletes, which shrink the filter: a file
// that is to keep more blocks than it has would be refused.
func TestWhatGrowAskedForStays(t *testing.T) {
	f := mustBuild(t, Shape{FPR: 0.001, Hashes: 8, Width: 56})
	keys := filtertest.Keys(1, 5000)
	for range effort.PickVariant(5, 15, 40) {
		if _, _, err := f.AddBatch(keys); err != nil {
			t.Fatal(err)
		}
		var deletes sync.WaitGroup
		var done atomic.Bool
		deletes.Go(func() {
			_, _, _, _ = filter.DeleteBatch(f, keys)
			done.Store(true)
		})
		for !done.Load() {
			if err := f.Grow(); err != nil {
				t.Error(err)
			}
			if c := f.capture(); c.floor > c.blocks {
				t.Fatalf("%d blocks are to be kept of %d", c.floor, c.blocks)
			}
			_ = f.Shrink()
			_ = f.Shrink()
		}
		deletes.Wait()
	}
}
