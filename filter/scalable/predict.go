package scalable

import (
	"math"

	"github.com/everbloom-go/everbloom/filter"
)

// Predict says what a filter of this shape will be like with n different keys. If
// there cannot be such a filter, the error says why.
func (s Shape) Predict(n uint64) (filter.Prediction, error) {
	var none, older float64 // the logarithm of the rate's complement; keys, each as often as units are older than its own
	units, bits := 0, uint64(0)
	for left := n; left > 0 || units == 0; units++ {
		g, err := s.unit(units)
		if err != nil {
			return filter.Prediction{}, err
		}
		keys := min(left, g.capacity)
		left -= keys
		bits += g.Bits()
		none += math.Log1p(-g.FPR(keys))
		older += float64(keys) * float64(units)
	}
	lines := float64(units) // hardly any unit is mistaken
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(float64(bits), n),
		FPR:            -math.Expm1(none),
		HitLines:       lines - older/float64(max(1, n)),
		MissLines:      lines,
		Units:          float64(units),
	}, nil
}
