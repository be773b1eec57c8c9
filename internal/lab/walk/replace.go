package walk

import (
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
)

// Replace fills f with the keys and replaces them: each step deletes a random key and adds
// a new one. After each of some numbers of turnovers look is told which keys were deleted.
// A key that f refuses to delete counts as deleted, too.
func Replace(f filter.Deleter, keys []filter.Key, turnovers []float64, r *rand.Rand, look func(gone []filter.Key) error) error {
	if _, _, err := filter.AddBatch(f, keys); err != nil {
		return err
	}
	var gone []filter.Key
	for _, until := range turnovers {
		for float64(len(gone)) < until*float64(len(keys)) {
			i := r.IntN(len(keys))
			_ = f.Delete(keys[i])
			gone = append(gone, keys[i])
			keys[i] = filter.Key(r.Uint64())
			if _, err := f.Add(keys[i]); err != nil {
				return err
			}
		}
		if err := look(gone); err != nil {
			return err
		}
	}
	return nil
}
