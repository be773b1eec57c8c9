package elastic

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Doublings returns how often a filter of this shape is expected to have doubled
// when n keys were added to it, none deleted and all moves done, and whether that
// is within its Growth. Bucket overflows, which are rare, are not foreseen.
func (s Shape) Doublings(n uint64) (doublings int, ok bool) {
	for e := range s.Growth + 1 {
		if s.fill(n, e) <= s.Threshold {
			return e, true
		}
	}
	return s.Growth, false
}

// fill returns the expected share of set bits with n keys after e doublings.
func (s Shape) fill(n uint64, e int) float64 {
	return theory.BloomFill(float64(s.Bits<<e), float64(s.Hashes), float64(n))
}

// Capacity returns how many keys are expected to fit, at the threshold, after all
// doublings.
func (s Shape) Capacity() uint64 {
	m := float64(s.Bits << s.Growth)
	return uint64(min(theory.BloomCardinality(m, float64(s.Hashes), s.Threshold*m), math.MaxInt64))
}

// FPR returns the expected rate with n keys once all trees are split. Just after a
// doubling, while most are not, it is that of before.
func (s Shape) FPR(n uint64) float64 {
	e, _ := s.Doublings(n)
	return math.Pow(s.fill(n, e), float64(s.Hashes))
}

// Predict says what a filter of this shape will be like with n keys, of which none was
// deleted. More than about Capacity are ErrFull.
func (s Shape) Predict(n uint64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	e, fits := s.Doublings(n)
	if !fits {
		return filter.Prediction{}, fmt.Errorf("elastic: %d keys, at most about %d: %w", n, s.Capacity(), filter.ErrFull)
	}
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(float64(fastBits(s.Bits<<e)), n),
		SlowBitsPerKey: filter.PerKey(float64(s.SlowBitsAt(e)), n),
		FPR:            s.FPR(n),
		HitLines:       float64(s.Hashes),
		MissLines:      probe.MissLines(s.Hashes, s.fill(n, e), probe.Group),
	}, nil
}

// SlowBitsAt returns the memory of the buckets after e doublings.
func (s Shape) SlowBitsAt(e int) uint64 {
	l := newLayout(s)
	return 64 * l.words(e)
}
