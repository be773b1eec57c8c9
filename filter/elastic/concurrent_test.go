package elastic

import (
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestReadersNeverSeeAKeyVanish has readers of keys that are always there, while
// others make the filter grow and shrink again and again: by keys that come and go,
// on demand and by splitting. The published code has false negatives for some keys of a
// million with four threads.
func TestReadersNeverSeeAKeyVanish(t *testing.T) {
	f := filtertest.Make(t, New, Config{Items: 64, FPR: 0.01})
	always := filtertest.Keys(1, 100)
	add(t, f, always...)
	var writers, readers sync.WaitGroup
	var done atomic.Bool
	sizes := map[uint64]bool{}
	for r := range 2 {
		readers.Go(func() {
			out := make([]bool, len(always))
			for !done.Load() {
				f.MayContainBatch(always, out)
				for i, k := range always {
					if !out[i] || !f.MayContain(k) {
						t.Errorf("reader %d: %#x was there all the time and is a false negative", r, k)
						return
					}
				}
			}
		})
	}
	readers.Go(func() { observe(t, f, always, &done) })
	for w := range uint64(2) {
		writers.Go(func() { comeAndGo(t, f, filtertest.Keys(10+w, 500)) })
	}
	writers.Go(func() {
		for range 6 {
			f.Grow()
			sizes[f.Bits()] = true
			f.FinishResize()
			f.Shrink()
			sizes[f.Bits()] = true
			u := filtertest.Make(t, Build, f.Shape())
			if err := u.Union(f); err != nil {
				t.Error(err)
			}
			has(t, u, always, "a union with a filter that is changed")
		}
	})
	writers.Wait()
	done.Store(true)
	readers.Wait()
	if f.Len() != uint64(len(always)) {
		t.Errorf("%d keys, want %d", f.Len(), len(always))
	}
	if len(sizes) < 2 {
		t.Errorf("the filter had %d sizes", len(sizes))
	}
	intact(t, f, "in the end")
}

// comeAndGo adds and deletes keys of its own.
func comeAndGo(t *testing.T, f *Filter, keys []filter.Key) {
	t.Helper()
	for range 3 {
		for _, k := range keys {
			if added, err := f.Add(k); !added || err != nil {
				t.Errorf("adding %#x: %t, %v", k, added, err)
				return
			}
			if !f.MayContain(k) {
				t.Errorf("%#x was added and is a false negative", k)
				return
			}
		}
		for _, k := range keys {
			if err := f.Delete(k); err != nil {
				t.Errorf("deleting %#x: %v", k, err)
				return
			}
		}
	}
}

// observe looks at the whole beside writers, and at the accurate query.
func observe(t *testing.T, f *Filter, always []filter.Key, done *atomic.Bool) {
	t.Helper()
	for i := 0; !done.Load(); i++ {
		if info := f.Info(); info.Keys < uint64(len(always)) || info.Fill > 1 {
			t.Errorf("%+v", info)
		}
		if k := always[i%len(always)]; !f.Contains(k) {
			t.Errorf("the accurate query does not find %#x", k)
		}
		if i%16 == 0 {
			if _, err := f.Snapshot().WriteTo(io.Discard); err != nil {
				t.Error(err)
			}
			f.Unsplit()
		}
	}
}

// TestOldBitsAreFrozen holds on to the bits of before a change of size, as a late
// reader does: what they say of keys that stay never changes.
func TestOldBitsAreFrozen(t *testing.T) {
	f := filtertest.Make(t, New, Config{Items: 100, FPR: 0.01})
	keys := filtertest.Keys(2, 200)
	add(t, f, keys[:100]...)
	for name, change := range map[string]func() error{"Grow": f.Grow, "Shrink": f.Shrink} {
		old := f.fast.Load()
		before := append([]uint64(nil), old.words...)
		if name == "Shrink" {
			f.Grow()
			f.FinishResize()
			old = f.fast.Load()
			before = append([]uint64(nil), old.words...)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		f.FinishResize()
		add(t, f, keys[100:]...)
		remove(t, f, keys[100:]...)
		for i, w := range old.words {
			if w != before[i] {
				t.Fatalf("%s: word %d of the old bits was changed from %x to %x", name, i, before[i], w)
			}
		}
	}
}
