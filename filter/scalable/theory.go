package scalable

import (
	"math"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// unitFPR returns the rate of unit i, counted from 0, of a filter whose rate is to
// stay below f: f/3, f/6, f/10, f/15, …, divided by the triangular numbers.
//
//	[DBF10], scalable filters: sum over i >= 0 of 2f / ((i+2)(i+3)) = f
//
// The schedule is not of the paper. A geometric one, f(1-r)r^i, needs more memory for each
// doubling of the set, and this one less and less: see docs/papers/dbf10.md.
func unitFPR(f float64, i int) float64 {
	return 2 * f / (float64(i+2) * float64(i+3))
}

// spares is by how many standard deviations of its own rate a unit is better than
// unitFPR asks for. A unit's rate is the mean over its blocks, which do not get equally
// many keys: with few blocks it scatters widely.
//
// The asked rate is then an expected one with long odds, not a certainty. Of 10,000
// filters for each rate, which began with 1 to 1,000 keys and grew to twenty times that
// or 4,000, none passed 1e-2, 1e-3 or 1e-4, and two passed 1e-6, by half at most.
const spares = 4

// scatter returns the mean and the standard deviation of the rate of a filter of so
// many blocks, where a key sets perWord bits in each word of one.
//
//	[PSS07] Sec. 3: f_blo = sum_i Poisson(load, i) f_inner(i), for one block a
//	random variable, of which a filter has the mean over its blocks
//
// The blocks are taken as independent: that their loads add up to the keys lowers the
// deviation a little. How the bits of a block scatter is left out.
func scatter(keys, blocks float64, perWord int) (mean, deviation float64) {
	var square float64
	for i, p := range theory.Poisson(keys / blocks) {
		rate := theory.BlockRate(i, perWord)
		mean += p * rate
		square += p * rate * rate
	}
	return mean, math.Sqrt(max(0, square-mean*mean) / blocks)
}
