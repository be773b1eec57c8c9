package filtertest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// Wander changes a filter at random, in every way that its kind can, and against
// the rules, too: it also deletes keys that are not in the set. check says what
// is wrong inside of the filter, and is asked after each step. All filters that
// build returns are equal.
func Wander[F filter.Filter](tb testing.TB, seed uint64, steps int, build func() F, check func(F) error) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	f := build()
	for step := range steps {
		what, err := change(rng, f, build())
		if wrong := check(f); wrong != nil {
			tb.Fatalf("seed %d, step %d, %s (%v): %v", seed, step, what, err, wrong)
		}
	}
}

// change does something to f, with the help of an empty filter, and says what.
// Many kinds cannot do all of it: errors are told, not judged.
func change(rng *rand.Rand, f, empty filter.Filter) (what string, err error) {
	keys := make([]filter.Key, rng.IntN(20))
	for i := range keys {
		keys[i] = (Stream{}).Present(rng.Uint64N(40)) // few, so that they come back
	}
	switch dice := rng.IntN(40); {
	case dice < 12:
		_, _, err = filter.AddBatch(f, keys)
		return fmt.Sprintf("add %d", len(keys)), err
	case dice < 28:
		for _, k := range keys {
			err = filter.Delete(f, k)
		}
		return fmt.Sprintf("delete %d", len(keys)), err
	case dice < 31:
		_, _, _ = filter.AddBatch(empty, keys)
		return fmt.Sprintf("unite with %d", len(keys)), filter.Union(f, empty)
	case dice < 33:
		_, _, _ = filter.AddBatch(empty, keys)
		return fmt.Sprintf("intersect with %d", len(keys)), filter.Intersect(f, empty)
	case dice < 35:
		_ = filter.Union(empty, f)
		_, _, _ = filter.AddBatch(empty, keys)
		return fmt.Sprintf("intersect with itself and %d", len(keys)), filter.Intersect(f, empty)
	case dice < 36:
		return "unite with itself", filter.Union(f, f)
	case dice < 38:
		return "grow", filter.Grow(f)
	default:
		return "shrink", filter.Shrink(f)
	}
}
