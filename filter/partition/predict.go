package partition

import (
	"math"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// Predict returns what a filter of this shape is expected to be like with n keys
// that are spread evenly over the universe: any hashed Keys are.
//
// The number of ids of a node is taken as Poisson distributed and the number of
// bits that so many ids set as its mean, so that a node is overfull above a fixed
// number of ids. Everything else is summed up exactly.
func (s Shape) Predict(n uint64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	most := s.population()
	var sum levelSum
	inners := 0.0
	for depth, above := 0, 1.0; depth <= s.Depth && above > 0; depth++ {
		l := newLevel(float64(n), depth, most)
		sum.add(s, l, depth)
		if above = l.over(most); depth < s.Depth {
			inners += math.Ldexp(above, depth)
		}
	}
	return s.prediction(n, sum, inners), nil
}

// population returns with how many ids a unit is as full as it may be.
func (s Shape) population() float64 {
	m, k := float64(s.UnitBits), float64(s.Hashes)
	most := -m / k * math.Log1p(-float64(s.Full)/m)
	if s.Count > 0 {
		most = min(most, float64(s.Count))
	}
	return most
}

// prediction puts together what was summed up over all levels of the tree.
func (s Shape) prediction(n uint64, sum levelSum, inners float64) filter.Prediction {
	units := newUnits(s.words())
	count := int(math.Round(sum.units))
	floor := 0.0
	if s.Universe == 0 {
		floor = min(1, math.Ldexp(float64(n), -s.IDBits))
	}
	top := math.Ldexp(1, topBitsFor(int(math.Round(inners)), s.IDBits))
	missLines := 1.0
	if sum.units > 0 {
		missLines += sum.lines
	}
	fast := 64*float64(units.words(count)) + refBits*(float64(roundUp(int(2*inners)))+top)
	slow := sum.bits + leafBits*float64(roundUp(count))
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(fast, n),
		SlowBitsPerKey: filter.PerKey(slow, n),
		FPR:            min(1, floor+(1-floor)*sum.rate),
		HitLines:       1 + float64(s.Hashes),
		MissLines:      missLines,
		Units:          sum.units,
	}
}

// levelSum is summed up over the leaves of all levels.
type levelSum struct {
	units float64
	bits  float64 // of offsets
	rate  float64
	lines float64 // of a unit that a miss reads
}

// add adds the leaves at depth, which are the nodes that have few enough ids and a
// sibling with which they have too many.
func (t *levelSum) add(s Shape, l level, depth int) {
	span := uint8(s.IDBits - depth)
	nodes := math.Ldexp(1, depth)
	for x, p := range l.share {
		if float64(x) > l.most && depth < s.Depth {
			break
		}
		if depth > 1 { // the root is overfull for certain, or there are no children
			p *= l.over(l.most - float64(x))
		}
		fill := -math.Expm1(-float64(s.Hashes) * float64(x) / float64(s.UnitBits))
		t.rate += p * power(fill, s.Hashes)
		if x > 0 {
			t.lines += p * probe.MissLines(s.Hashes, fill, probe.Group)
			t.units += nodes * p
		}
		if x > 1 { // a single id has all its bits in the base
			t.bits += nodes * p * 8 * float64(roomFor(span, x))
		}
	}
}

// A level is the distribution of the number of ids of the nodes at one depth.
type level struct {
	most  float64
	share []float64 // of nodes with so many ids
	tail  []float64 // of nodes with so many or more
}

// newLevel returns the Poisson distribution of the nodes at depth, up to where
// nothing is left of it; above twice most it does not matter any more.
func newLevel(n float64, depth int, most float64) level {
	mean := math.Ldexp(n, -depth)
	end := int(min(mean+12*math.Sqrt(mean)+20, 2*most+40))
	l := level{most: most, share: make([]float64, end+1), tail: make([]float64, end+2)}
	for x := range l.share {
		logFactorial, _ := math.Lgamma(float64(x) + 1)
		l.share[x] = math.Exp(float64(x)*math.Log(mean) - mean - logFactorial)
	}
	if depth == 0 { // the root has all ids, no more and no less
		clear(l.share)
		if n <= float64(end) {
			l.share[int(n)] = 1
		}
	}
	rest := 1.0
	for x, p := range l.share {
		l.tail[x] = max(0, rest)
		rest -= p
	}
	l.tail[end+1] = max(0, rest)
	if mean < most {
		l.sumTail()
	}
	return l
}

// sumTail makes small tails precise.
func (l *level) sumTail() {
	l.tail[len(l.share)] = 0
	for x, p := range slices.Backward(l.share) {
		l.tail[x] = l.tail[x+1] + p
	}
}

// over returns the share of nodes with more than x ids.
func (l *level) over(x float64) float64 {
	i := int(math.Floor(x)) + 1
	switch {
	case i <= 0:
		return 1
	case i >= len(l.tail):
		return 0
	}
	return l.tail[i]
}
