package perennial_test

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/perennial"
)

// TestCountIsNeverTooLow adds and deletes keys several times each.
func TestCountIsNeverTooLow(t *testing.T) {
	f, err := perennial.New(perennial.Config{FPR: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var h filter.Hash
	there := make(map[uint64]uint64)
	for range 30_000 {
		x := rng.Uint64N(3000)
		if k := h.Uint64(x); there[x] > 0 && rng.IntN(3) == 0 {
			if err := f.Delete(k); err != nil {
				t.Fatal(err)
			}
			there[x]--
		} else {
			if _, err := f.Add(k); err != nil {
				t.Fatal(err)
			}
			there[x]++
		}
	}
	exact := 0
	for x := range uint64(3000) {
		n := f.Count(h.Uint64(x))
		if n < there[x] {
			t.Errorf("key %d is there %d times, Count says %d", x, there[x], n)
		}
		if (n > 0) != f.MayContain(h.Uint64(x)) {
			t.Errorf("key %d: Count says %d, MayContain otherwise", x, n)
		}
		if n == there[x] {
			exact++
		}
	}
	if exact < 2900 {
		t.Errorf("%d of 3000 are exact", exact)
	}
}
