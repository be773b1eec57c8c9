package partition

import (
	"math/rand/v2"
	"testing"
)

// TestExpiries compares with a map: each entry is there once, however often it was set.
func TestExpiries(t *testing.T) {
	var x expiries
	want := make(map[uint64]int64)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		switch number, at := rng.Uint64N(50), rng.Int64N(100); {
		case rng.IntN(4) > 0:
			x.set(at, number)
			want[number] = at
			if at == 0 {
				delete(want, number)
			}
		default:
			first := int64(1000)
			for _, end := range want {
				first = min(first, end)
			}
			got, ok := x.pop(at)
			if ok != (first <= at) || ok && want[got] != first {
				t.Fatalf("entry %d that ends at %d, the first ends at %d, it is %d", got, want[got], first, at)
			}
			if ok {
				delete(want, got)
			}
		}
		if len(x.list) != len(want) || len(x.places) != len(want) {
			t.Fatalf("%d and %d places for %d entries", len(x.list), len(x.places), len(want))
		}
	}
}
