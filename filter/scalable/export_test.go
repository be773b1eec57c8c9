package scalable

import (
	"math"
	"math/bits"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// TrueRate returns the rate of this very filter: a query goes to each block of a unit
// with the same odds, and finds every bit of its pattern set with the odds of the word.
func (f *Filter) TrueRate() float64 {
	none := 0.0
	for _, u := range f.units {
		words, perWord := u.Words(), u.Shape().Hashes/theory.BlockWords
		sum := 0.0
		for len(words) > 0 {
			rate := 1.0
			for _, w := range words[:theory.BlockWords] {
				rate *= math.Pow(float64(bits.OnesCount64(w))/64, float64(perWord))
			}
			sum += rate
			words = words[theory.BlockWords:]
		}
		none += math.Log1p(-sum / float64(u.Shape().Blocks))
	}
	return -math.Expm1(none)
}

// UnitFPR is the rate of a unit.
func UnitFPR(f float64, i int) float64 { return unitFPR(f, i) }
