package dynamic

import (
	"math"
	"math/bits"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// A Prediction is what a filter is expected to be like after some keys were added
// and none deleted.
type Prediction struct {
	Units     uint64
	Bits      uint64  // of all units
	FPR       float64 // of the whole
	HitLines  float64 // cache lines that are read for a key that is present
	MissLines float64 // and for one that is absent, on average
}

// Capacity returns the expected number of different keys that a unit takes.
func (s Shape) Capacity() uint64 {
	if s.check() != nil {
		return 0
	}
	room := float64(s.Full - uint64(s.Hashes)) // with more positions set it is full
	n := theory.BloomCardinality(float64(s.Positions), float64(s.Hashes), room)
	return 1 + uint64(math.Floor(min(n, maxPositions)))
}

// Predict says what a filter of this shape will be like with n different keys. The
// number of keys that a unit takes scatters a little, so that where a unit begins
// there may be one more or less. A shape that cannot be built gives nothing.
func (s Shape) Predict(n uint64) Prediction {
	if s.check() != nil {
		return Prediction{FPR: math.NaN()}
	}
	m, k, capacity := float64(s.Positions), float64(s.Hashes), s.Capacity()
	units := uint64(1)
	if n > 0 {
		units += (n - 1) / capacity
	}
	p := Prediction{
		Units: units,
		Bits:  times(units, s.Bits()),
		FPR:   FPR(m, k, float64(capacity), float64(n)),
	}
	unitFPR := theory.BloomFPR(m, k, float64(min(n, capacity)))
	lines := s.missLines(theory.BloomFill(m, k, float64(min(n, capacity))))
	p.MissLines = lines * MissUnits(unitFPR, float64(units))
	p.HitLines = k + lines*(HitUnits(unitFPR, float64(units))-1)
	return p
}

// missLines returns how many positions are read on average in a unit that does not
// have the key: the first four together, the others one by one until one is clear.
func (s Shape) missLines(fill float64) float64 {
	lines := float64(min(4, s.Hashes))
	reached := math.Pow(fill, 4)
	for range s.Hashes - 4 {
		lines += reached
		reached *= fill
	}
	return lines
}

// Predict says what a filter of this shape will be like with n different keys, if
// every list has its share.
func (s ParallelShape) Predict(n uint64) Prediction {
	if s.check() != nil {
		return Prediction{FPR: math.NaN()}
	}
	lists := uint64(s.Partitions)
	share := n / lists
	if n%lists > 0 {
		share++
	}
	p := s.List().Predict(share)
	p.Units, p.Bits = times(lists, p.Units), times(lists, p.Bits)
	return p
}

// times returns the product, or the largest number if that is too large.
func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}
