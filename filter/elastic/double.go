package elastic

import (
	"fmt"
	"iter"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
)

// The lazy update of [EBF21] Sec. 3.3.1. Doubling copies the bits into both halves of a
// new array and adds empty buckets. Its work on the buckets is done tree by tree:
// splitting a tree moves the fingerprints that belong to its twin in the upper half and
// clears the bits of what is empty then. Until then both halves' bits are those of
// before, so that there is no false negative, and writers look for the fingerprints of
// both in the lower one.

// doubleTo doubles the table until that was done e times. All memory is taken first:
// after an error the table is as before. Only one doubling can be under way: an earlier
// one is finished first.
func (t *table) doubleTo(e int) error {
	var arrays []*fast
	for i := 1; t.slow.doublings+i <= e; i++ {
		a, err := newFast(t.size() << i)
		if err != nil {
			return err
		}
		arrays = append(arrays, a)
	}
	if err := t.slow.reserve(e + 1); err != nil {
		return err
	}
	for _, a := range arrays {
		t.splitAll()
		t.fast.Load().double(a)
		t.slow.double()
		t.set *= 2
		t.publish(a)
	}
	return nil
}

// split splits a tree of the lower half.
func (t *table) split(low, group uint64) {
	s := t.slow
	from, to := s.tree(low, group), s.twin(low, group)
	if all := from.gather(t.entries[:0]); len(all) > 0 {
		from.wipe()
		for _, e := range all {
			tree := from
			if e.fp>>(s.doublings-1)&1 != 0 {
				tree = to
			}
			tree.add(e.branch, e.fp) // fits: both get a part of what fitted
		}
		first := s.firstBit(low, group)
		t.clearVacant(first, from, all)
		t.clearVacant(first+t.size()/2, to, all)
	}
	from.setSign(s.sign)
	to.setSign(s.sign)
	s.unsplit--
}

// splitNext looks at the next trees in order, at most the given number, and splits them.
func (t *table) splitNext(trees uint64) {
	s := t.slow
	if s.unsplit == 0 {
		return
	}
	segment, group := s.next/s.segment, s.next%s.segment
	for ; trees > 0 && s.unsplit > 0; trees-- {
		if !s.isSplit(segment, group) {
			t.split(segment, group)
		}
		if group++; group == s.segment {
			segment, group = segment+1, 0
		}
		s.next++
	}
}

// splitAll finishes a doubling, if one is under way.
func (t *table) splitAll() { t.splitNext(math.MaxUint64) }

var (
	errSmallest = fmt.Errorf("elastic: shrink: the filter has its least size: %w", filter.ErrFull)
	errCrowded  = fmt.Errorf("elastic: shrink: buckets would overflow: %w", filter.ErrFull)
	errRate     = fmt.Errorf("elastic: shrink: the rate would pass the asked one: %w", filter.ErrFull)
)

// halve halves the table, if buckets allow it and the share of set bits is at most the
// given one then. After an error it is as before.
func (t *table) halve(most float64) error {
	if t.slow.doublings == 0 {
		return errSmallest
	}
	t.splitAll()
	a, err := t.fast.Load().halve()
	if err != nil {
		return err
	}
	set := a.count()
	if float64(set) > most*float64(a.size()) {
		return errRate
	}
	if !t.fold() {
		return errCrowded
	}
	t.slow.halve()
	t.set = set
	t.publish(a)
	return nil
}

// fold moves all fingerprints of the upper half to the lower one. If a tree overflows by
// that it says so, and all is as before.
func (t *table) fold() bool {
	for low, group := range t.upperAhead() {
		tree := t.slow.tree(low, group)
		for _, e := range t.slow.twin(low, group).gather(t.entries[:0]) {
			if !tree.add(e.branch, e.fp) {
				t.undoFold(low, group)
				return false
			}
		}
	}
	return true
}

// undoFold takes back what fold has put into trees up to the given one. The upper half
// still has it all.
func (t *table) undoFold(lastLow, lastGroup uint64) {
	for low, group := range t.upper() {
		tree := t.slow.tree(low, group)
		all := tree.gather(t.entries[:0])
		tree.wipe()
		for _, e := range all {
			if e.fp>>(t.slow.doublings-1)&1 == 0 {
				tree.add(e.branch, e.fp)
			}
		}
		if low == lastLow && group == lastGroup {
			return
		}
	}
}

// upper returns the trees of the upper half that have fingerprints, by their twins in
// the lower half. All trees are split, so the bits tell which are empty, and most are
// when it is time to halve: their memory need not be read.
func (t *table) upper() iter.Seq2[uint64, uint64] {
	a, half := t.fast.Load(), t.size()/2
	return func(yield func(low, group uint64) bool) {
		next := uint64(0) // first bit behind the tree that was given last
		for i := range bitvec.Vector(a.words).Ones(half) {
			if i < next {
				continue
			}
			group, branch := t.slow.group(i & (1<<t.slow.sizeBits - 1))
			next = i - branch + t.slow.branchesOf(group)
			if !yield((i-half)>>t.slow.sizeBits, group) {
				return
			}
		}
	}
}

// foldAhead is how many trees are touched before they are read.
const foldAhead = 16

// upperAhead is upper with a look ahead: what is going to be read is touched some trees
// before, so that the cache misses overlap.
func (t *table) upperAhead() iter.Seq2[uint64, uint64] {
	return func(yield func(low, group uint64) bool) {
		ahead := make([][2]uint64, 0, foldAhead)
		pass := func() bool {
			for _, a := range ahead {
				t.seen |= t.slow.tree(a[0], a[1]).firstWord() | t.slow.twin(a[0], a[1]).firstWord()
			}
			for _, a := range ahead {
				if !yield(a[0], a[1]) {
					return false
				}
			}
			ahead = ahead[:0]
			return true
		}
		for low, group := range t.upper() {
			ahead = append(ahead, [2]uint64{low, group})
			if len(ahead) == foldAhead && !pass() {
				return
			}
		}
		pass()
	}
}
