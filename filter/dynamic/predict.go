package dynamic

import (
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Capacity returns the expected number of different keys that a unit takes.
func (s Shape) Capacity() uint64 {
	if s.check() != nil {
		return 0
	}
	room := float64(s.Full - uint64(s.Hashes)) // with more positions set it is full
	n := theory.BloomCardinality(float64(s.Positions), float64(s.Hashes), room)
	return 1 + uint64(math.Floor(min(n, maxPositions)))
}

// Predict says what a filter of this shape will be like with n different keys, of
// which none was deleted. The number of keys that a unit takes scatters a little, so
// that where a unit begins there may be one more or less.
func (s Shape) Predict(n uint64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	m, k, capacity := float64(s.Positions), float64(s.Hashes), s.Capacity()
	units := 1.0
	if n > 0 {
		units += float64((n - 1) / capacity)
	}
	inUnit := float64(min(n, capacity))
	unitFPR := theory.BloomFPR(m, k, inUnit)
	lines := probe.MissLines(s.Hashes, theory.BloomFill(m, k, inUnit), s.group)
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(units*float64(s.Bits()), n),
		FPR:            theory.DynamicFPR(m, k, float64(capacity), float64(n)),
		MissLines:      lines * theory.DynamicMissUnits(unitFPR, units),
		HitLines:       k + lines*(theory.DynamicHitUnits(unitFPR, units)-1),
		Units:          units,
	}, nil
}

// group returns how many positions of a unit [seeker.seek] tests together when so
// many are left.
func (s Shape) group(left int) int {
	if left == s.Hashes {
		return min(4, left)
	}
	return 1
}

// Predict says what a filter of this shape will be like with n different keys, if
// every list has its share.
func (s ParallelShape) Predict(n uint64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	lists := uint64(s.Partitions)
	share := n / lists
	if n%lists > 0 {
		share++
	}
	p, err := s.Shape.Predict(share)
	p.Units *= float64(lists)
	p.FastBitsPerKey = filter.PerKey(p.Units*float64(s.Bits()), n)
	return p, err
}
