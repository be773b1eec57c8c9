package deletable

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// A Goal says which of several filters with the same keys is the best: the one in
// which the fewest named keys are not as they should be, and among equals the one
// with the fewest set bits.
type Goal struct {
	deletable []filter.Key // shall be possible to delete
	must      bool         // all of them, or the filter is not taken
	absent    []filter.Key // shall not be taken for present
}

// BestFill prefers the filter with the fewest set bits, and so the lowest rate.
func BestFill() Goal { return Goal{} }

// AllDeletable takes only filters in which each of the named keys can be deleted,
// and of these the one with the fewest set bits.
func AllDeletable(named ...filter.Key) Goal { return Goal{deletable: named, must: true} }

// MostDeletable prefers the filter in which the most of the named keys can be
// deleted.
func MostDeletable(named ...filter.Key) Goal { return Goal{deletable: named} }

// FewestFalse prefers the filter that takes the fewest of these keys, which are not
// in the set, for present. It is for programs that know what will be asked; for all other
// keys it gains little.
func FewestFalse(absent ...filter.Key) Goal { return Goal{absent: absent} }

// And asks for both. Keys that the one goal misses count as much as those that the
// other does.
func (g Goal) And(other Goal) Goal {
	return Goal{
		deletable: slices.Concat(g.deletable, other.deletable),
		must:      g.must || other.must,
		absent:    slices.Concat(g.absent, other.absent),
	}
}

// maxCandidates is as many as a 16-bit field in a packet can number.
const maxCandidates = 1 << 16

// Choose puts the keys into several filters of one shape but for their salts and
// returns the best, with its number: the power of choices at hashing time that
// [DlBF10] Sec. V asks about. Candidate i has the shape s.Candidate(i). A caller that gets
// the bits needs the number beside them.
//
// If the goal is AllDeletable and no candidate reaches it, the error is
// ErrPinned. Keys that shall be deletable must be among the keys, or deleting them
// would harm others; absent keys must not.
func Choose(s Shape, keys []filter.Key, goal Goal, candidates int) (f *Filter, number int, err error) {
	if err := checkChoice(s, keys, goal, candidates); err != nil {
		return nil, 0, err
	}
	var best, next *Filter
	lowest := math.MaxInt
	for i := range candidates {
		if next, err = next.reuse(s.Candidate(i)); err != nil {
			return nil, 0, err
		}
		_, _, _ = next.AddBatch(keys)
		if lowest == 0 && next.set >= best.set {
			continue // it cannot win, whatever it costs
		}
		cost := goal.cost(next)
		if cost < lowest || cost == lowest && best != nil && next.set < best.set {
			best, next, number, lowest = next, best, i, cost
		}
	}
	if best == nil {
		return nil, 0, fmt.Errorf("deletable: choose: in none of %d candidates can all %d named keys be deleted: %w", candidates, len(goal.deletable), filter.ErrPinned)
	}
	return best, number, nil
}

func checkChoice(s Shape, keys []filter.Key, goal Goal, candidates int) error {
	errs := []error{s.check()}
	if candidates < 1 || candidates > maxCandidates {
		errs = append(errs, fmt.Errorf("deletable: choose: candidates: %d, must be 1 to %d", candidates, maxCandidates))
	}
	known := make(map[filter.Key]bool, len(keys))
	for _, k := range keys {
		known[k] = true
	}
	for _, k := range goal.deletable {
		if !known[k] {
			errs = append(errs, fmt.Errorf("deletable: choose: named key %#x is not among the keys: %w", uint64(k), filter.ErrNotFound))
		}
	}
	for _, k := range goal.absent {
		if known[k] {
			errs = append(errs, fmt.Errorf("deletable: choose: absent key %#x is among the keys", uint64(k)))
		}
	}
	return errors.Join(errs...)
}

// reuse returns an empty filter of shape s, in f's memory if f is not nil. The
// shapes differ in nothing but the salt.
func (f *Filter) reuse(s Shape) (*Filter, error) {
	if f == nil {
		return Build(s)
	}
	_ = f.Clear()
	return from(s, f.marks, f.cells), nil
}

// cost is how many keys are not as they should be. A filter that must not be taken
// costs as much as none.
func (g Goal) cost(f *Filter) (n int) {
	for _, k := range g.deletable {
		if _, free := f.look(f.mixer.Mix(k)); free != 0 {
			continue
		}
		if g.must {
			return math.MaxInt
		}
		n++
	}
	for _, k := range g.absent {
		if f.MayContain(k) {
			n++
		}
	}
	return n
}
