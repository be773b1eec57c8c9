package perennial

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestReadersNeverMissWhatIsThere lets readers ask for keys that stay, beside a writer that
// makes the filter grow and shrink many times, so that their lines move.
func TestReadersNeverMissWhatIsThere(t *testing.T) {
	f, err := New(Config{FPR: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []filter.Key {
		keys := make([]filter.Key, n)
		for i := range keys {
			keys[i] = filter.Key(rng.Uint64())
		}
		return keys
	}
	stay, pass := draw(300), draw(effort.Pick(3_000, 30_000))
	for _, k := range stay {
		f.Add(k)
	}
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			out := make([]bool, len(stay))
			for !done.Load() {
				for _, k := range stay {
					if !f.MayContain(k) {
						t.Error("a key that is in the set was not found")
						return
					}
				}
				f.MayContainBatch(stay, out)
				for _, found := range out {
					if !found {
						t.Error("a key that is in the set was not found by a batch")
						return
					}
				}
			}
		})
	}
	for range effort.Pick(20, 100) {
		for _, k := range pass {
			if _, err := f.Add(k); err != nil {
				t.Error(err)
			}
		}
		for _, k := range pass {
			if err := f.Delete(k); err != nil {
				t.Error(err)
			}
		}
	}
	done.Store(true)
	readers.Wait()
	if f.Len() != uint64(len(stay)) {
		t.Errorf("%d keys, want %d", f.Len(), len(stay))
	}
}

// TestAStepBackIsNoticed is about a reader that has the layout from before a step forth and
// back, and lines from between. It must not take them for a pair: each line whose buckets have
// moved has another number after the step back, and a line behind is not judged by another
// layout.
func TestAStepBackIsNoticed(t *testing.T) {
	f, err := New(Config{FPR: 0.01, Items: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	r := f.ring.Load()
	rng := rand.New(rand.NewPCG(3, 4))
	moved, behind := 0, 0
	for range 22_000 {
		k := filter.Key(rng.Uint64())
		f.Add(k)
		if f.Len() < 20_000 {
			continue
		}
		state := r.state.Load()
		x := r.layout.locate(r.mixer.Mix(k), r.w)
		l := r.at(x.index())
		idx := x.idx + l.in() - l.held()
		if err := f.Grow(); err != nil {
			t.Fatal(err)
		}
		now := r.layout.locate(r.mixer.Mix(k), r.w)
		between := r.seqs.Load().of(x.index()).Load()
		if idx >= 0 {
			behind++
			if _, ok := r.lookBehind(state, x.place, idx, x.y); ok {
				t.Fatalf("%d keys: a line behind line %d was judged by another layout", f.Len(), x.index())
			}
		}
		if err := f.Shrink(); err != nil {
			t.Fatal(err)
		}
		if x.place == now.place {
			continue
		}
		moved++
		if r.seqs.Load().of(x.index()).Load() == between {
			t.Fatalf("%d keys: line %d has the number %d before and after a step back", f.Len(), x.index(), between)
		}
	}
	if moved == 0 || behind == 0 || len(*r.seqs.Load()) == 1 {
		t.Errorf("%d keys have moved, %d were behind their line, %d numbers", moved, behind, len(*r.seqs.Load()))
	}
}
