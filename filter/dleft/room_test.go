package dleft

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/theory"
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

// TestPathsOfAnySaltServe: factors are drawn, and bad luck must not show. The
// shares of buckets with 7 keys and more are those of the fluid limit for every
// salt, and nothing is moved.
func TestPathsOfAnySaltServe(t *testing.T) {
	const n = 12_000
	want := theory.DLeftInsertLoads(4, 6, 8)
	for salt := range uint64(20) {
		f := build(t, Shape{Subtables: 4, Buckets: n / 24, Cells: 8, Remainder: 14, Counter: 2, Salt: salt})
		rng := rand.New(rand.NewPCG(salt, 1))
		for range n {
			add(t, f, filter.Key(rng.Uint64()))
		}
		buckets, shares := 0.0, make([]float64, 8)
		for subtable, load := range f.Loads() {
			if want := int(buckets) / (n / 24); subtable != want {
				t.Fatalf("bucket %.0f is in subtable %d, want %d", buckets, subtable, want)
			}
			buckets++
			for i := range load {
				shares[i]++
			}
		}
		for i, x := range shares {
			if math.Abs(x/buckets-want[i]) > 0.03 {
				t.Errorf("salt %d: %.4f of the buckets hold %d keys or more, want %.4f", salt, x/buckets, i+1, want[i])
			}
		}
		if f.Moved() > 0 {
			t.Errorf("salt %d: %d keys were moved", salt, f.Moved())
		}
	}
}
