package everbloom

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
)

// Union adds what is in other. Both sets must have the same hash, the same
// number of shards and filters that can be merged; otherwise the error is
// filter.ErrIncompatible (or errors.ErrUnsupported) and says what differs. Kinds
// that refuse keys when they are full answer filter.ErrFull. After an error
// nothing was changed.
//
// Where duplicates are counted, keys that are in both sets count twice afterwards.
// The union of a set with itself changes nothing, whatever the kind.
func (s *Set) Union(other *Set) error {
	if _, can := s.shards[0].filter.(filter.Preparer); can && s != other && len(s.shards) > 1 {
		return s.unionAtOnce(other)
	}
	return s.merge(other, filter.Union)
}

// Intersect keeps at least what is in both. The conditions are those of Union.
func (s *Set) Intersect(other *Set) error { return s.merge(other, filter.Intersect) }

func (s *Set) merge(other *Set, verb func(f, other filter.Filter) error) error {
	if err := s.compatible(other); err != nil {
		return err
	}
	if s == other {
		return s.mergeable()
	}
	for i := range s.shards {
		if err := mergeShards(&s.shards[i], &other.shards[i], s.order < other.order, verb); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) compatible(other *Set) error {
	if s.hash != other.hash {
		return fmt.Errorf("everbloom: hash is %s in one and %s in the other: %w", s.hash.Name(), other.hash.Name(), filter.ErrIncompatible)
	}
	if len(s.shards) != len(other.shards) {
		return fmt.Errorf("everbloom: shards are %d in one and %d in the other: %w", len(s.shards), len(other.shards), filter.ErrIncompatible)
	}
	return nil
}

// mergeable is the answer to merging a set with itself, which changes nothing:
// every set is its own union and its own intersection. Nor could both locks be
// taken, for they are one.
func (s *Set) mergeable() error {
	h := &s.shards[0]
	if _, can := h.filter.(filter.Merger); can {
		return nil
	}
	h.rlock()
	defer h.runlock()
	return filter.Union(h.filter, h.filter) // says that the kind cannot
}

// unionAtOnce prepares the unions of all shards before it completes the first,
// so that one that is full leaves none changed. It takes all locks, in the order
// that mergeShards has.
func (s *Set) unionAtOnce(other *Set) error {
	if err := s.compatible(other); err != nil {
		return err
	}
	first, second := s.lockAll, other.rlockAll
	if s.order > other.order {
		first, second = second, first
	}
	defer first()()
	defer second()()
	complete := make([]func(), len(s.shards))
	for i := range s.shards {
		p, can := s.shards[i].filter.(filter.Preparer)
		if !can {
			return fmt.Errorf("everbloom: shard %d is of another kind than shard 0: %w", i, filter.ErrIncompatible)
		}
		var err error
		if complete[i], err = p.PrepareUnion(other.shards[i].filter); err != nil {
			return fmt.Errorf("everbloom: shard %d of %d: %w", i, len(s.shards), err)
		}
	}
	for _, c := range complete {
		c()
	}
	return nil
}

func (s *Set) lockAll() (unlock func()) {
	for i := range s.shards {
		s.shards[i].lock()
	}
	return func() {
		for i := range s.shards {
			s.shards[i].unlock()
		}
	}
}

func (s *Set) rlockAll() (unlock func()) {
	for i := range s.shards {
		s.shards[i].rlock()
	}
	return func() {
		for i := range s.shards {
			s.shards[i].runlock()
		}
	}
}

// mergeShards takes the two locks in an order that is the same for everybody.
func mergeShards(to, from *shard, toFirst bool, verb func(f, other filter.Filter) error) error {
	if toFirst {
		to.lock()
		defer to.unlock()
	}
	from.rlock()
	defer from.runlock()
	if !toFirst {
		to.lock()
		defer to.unlock()
	}
	return verb(to.filter, from.filter)
}
