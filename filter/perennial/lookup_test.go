package perennial

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestAssemblyAnswersAsGoDoes asks rings of all widths that it knows, with voids, counts and
// buckets in lines behind.
func TestAssemblyAnswersAsGoDoes(t *testing.T) {
	effort.OneGoroutine(t)
	if !hasKernel {
		t.Skip("there is no assembly for this machine")
	}
	for w := uint64(minWidth); w <= kernelWidth; w++ {
		rng := rand.New(rand.NewPCG(w, 1))
		f := filtertest.Make(t, Build, Shape{Lines: minLines, Width: w, Fill: maxFill, FPR: 0.5, Salt: w})
		var present []filter.Key
		for i := range 8_000 {
			k := filter.Key(rng.Uint64())
			for range 1 + max(0, rng.IntN(40)-35) {
				if _, err := f.Add(k); err != nil {
					t.Fatalf("width %d, add to %d keys: %v", w, f.Len(), err)
				}
			}
			present = append(present, k)
			for _, k := range [2]filter.Key{present[rng.IntN(i+1)], filter.Key(rng.Uint64())} {
				var batch [1]bool
				f.MayContainBatch([]filter.Key{k}, batch[:])
				if got, want := filterHas(f, k), filterLookup(f, k); got != want || batch[0] != want {
					t.Fatalf("width %d, %d keys: assembly says %v of %#x and %v in a batch, Go %v", w, f.Len(), got, k, batch[0], want)
				}
			}
		}
	}
}
