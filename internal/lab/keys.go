package lab

import (
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
)

// Figure estimates the mean of one figure of the trials.
func Figure[T any](trials []T, figure func(T) float64) Estimate {
	values := make([]float64, len(trials))
	for i, t := range trials {
		values[i] = figure(t)
	}
	return Mean(values)
}

// RandomKeys returns n keys of a perfect hash.
func RandomKeys(r *rand.Rand, n int) []filter.Key {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = filter.Key(r.Uint64())
	}
	return keys
}

// CountYes counts the keys that f may contain.
func CountYes(f filter.Filter, keys []filter.Key) (yes int) {
	for _, k := range keys {
		if f.MayContain(k) {
			yes++
		}
	}
	return yes
}

// YesShare is the share of the keys that f may contain, 0 of none.
func YesShare(f filter.Filter, keys []filter.Key) float64 {
	return float64(CountYes(f, keys)) / float64(max(1, len(keys)))
}

// OneIf is 1 for what happened in a trial, so that the mean of trials is a share.
func OneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
