package scalable

import "math"

// A Prediction is what a filter is expected to be like after some keys were added.
type Prediction struct {
	Units     uint64
	Bits      uint64  // of all units
	FPR       float64 // of the whole
	HitLines  float64 // cache lines that are read for a key that is present
	MissLines float64 // and for one that is absent, on average
}

// Predict says what a filter of this shape will be like with n different keys. If
// there cannot be such a filter, the error says why.
func (s Shape) Predict(n uint64) (Prediction, error) {
	var p Prediction
	var none, older float64 // the logarithm of the rate's complement; keys, each as often as units are older than its own
	for left := n; left > 0 || p.Units == 0; p.Units++ {
		g, err := s.unit(int(p.Units))
		if err != nil {
			return Prediction{}, err
		}
		keys := min(left, g.capacity)
		left -= keys
		p.Bits += g.Bits()
		none += math.Log1p(-g.FPR(keys))
		older += float64(keys) * float64(p.Units)
	}
	p.FPR = -math.Expm1(none)
	p.MissLines = float64(p.Units) // hardly any unit is mistaken
	p.HitLines = p.MissLines - older/float64(max(1, n))
	return p, nil
}
