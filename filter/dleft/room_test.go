package dleft

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// TestAskedKeysFindRoom fills filters of all small sizes, whose buckets are too few
// for the fluid limit to say much.
func TestAskedKeysFindRoom(t *testing.T) {
	for _, fpr := range []float64{0.01, 0.001} {
		for n := uint64(1); n <= 2000; n += 1 + n/12 {
			for salt := range uint64(4) {
				f, err := New(Config{Items: n, FPR: fpr, Salt: salt})
				if err != nil {
					t.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(n, salt))
				for i := range n {
					if _, err := f.Add(filter.Key(rng.Uint64())); err != nil {
						t.Fatalf("%d keys at %g, salt %d: key %d: %v", n, fpr, salt, i, err)
					}
				}
			}
		}
	}
}
