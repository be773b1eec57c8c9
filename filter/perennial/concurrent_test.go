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

// TestAStepBackIsNoticed holds a line's number against a step forth and back: a reader that has
// the layout from before both, and the line from between, must not take them for a pair.
func TestAStepBackIsNoticed(t *testing.T) {
	f, err := New(Config{FPR: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	moved := 0
	for range 3_000 {
		k := filter.Key(rng.Uint64())
		f.Add(k)
		r := f.ring.Load()
		place := func() (index uint64, idx int, seq uint32) {
			x := r.layout.locate(r.mixer.Mix(k), r.w)
			i := x.index()
			return i, x.idx + r.at(i).in(), r.seqs.Load().of(i).Load()
		}
		index, idx, _ := place()
		if f.Grow() != nil {
			continue
		}
		newIndex, newIdx, _ := place()
		between := r.seqs.Load().of(index).Load()
		if err := f.Shrink(); err != nil {
			t.Fatal(err)
		}
		if index == newIndex && idx == newIdx {
			continue
		}
		moved++
		if _, _, seq := place(); seq == between {
			t.Fatalf("%d keys: line %d has the number %d before and after a step back", f.Len(), index, seq)
		}
	}
	if moved == 0 {
		t.Error("no key has moved")
	}
}
