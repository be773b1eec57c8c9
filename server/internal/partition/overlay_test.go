package partition

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// TestOverlay compares the overlay with a map, over many batches.
func TestOverlay(t *testing.T) {
	type place struct {
		entry uint64
		key   filter.Key
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var o overlay
	for batch := range 50 {
		want := make(map[place]state)
		for range rng.IntN(1 + batch*100) {
			p := place{rng.Uint64N(3), filter.Key(rng.Uint64N(1000))}
			if o.get(p.entry, p.key) != want[p] {
				t.Fatalf("batch %d: %v: %d, want %d", batch, p, o.get(p.entry, p.key), want[p])
			}
			want[p] = state(1 + rng.IntN(3))
			o.set(p.entry, p.key, want[p])
		}
		for p, st := range want {
			if o.get(p.entry, p.key) != st {
				t.Fatalf("batch %d: %v: %d, want %d", batch, p, o.get(p.entry, p.key), st)
			}
		}
		o.clear()
	}
	o.generation = ^uint32(0) // the last one before they begin again
	o.set(1, 1, present)
	o.clear()
	if o.get(1, 1) != undecided {
		t.Error("a state of an earlier batch is found")
	}
}
