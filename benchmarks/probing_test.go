package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestProbingIsAnExactSet has few hashes that lie close together, so that runs are long and
// go round the end.
func TestProbingIsAnExactSet(t *testing.T) {
	const slots = 16
	r := rand.New(rand.NewPCG(1, 2))
	s, want := make(probing, slots), map[uint64]bool{}
	for i := range 200_000 {
		h := r.Uint64N(24) * (math.MaxUint64 / 24)
		switch r.IntN(3) {
		case 0:
			if len(want) < slots-1 {
				s.add(h)
				want[h] = true
			}
		case 1:
			if s.del(h) != want[h] {
				t.Fatalf("step %d: deleting %#x: %v, want %v", i, h, !want[h], want[h])
			}
			delete(want, h)
		default:
			if s.has(h) != want[h] {
				t.Fatalf("step %d: %#x: %v, want %v", i, h, !want[h], want[h])
			}
		}
	}
}
