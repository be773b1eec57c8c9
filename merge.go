package everbloom

import (
	"errors"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Union adds what is in other. Both sets must have the same hash, the same
// number of shards and filters that can be merged; otherwise the error is
// filter.ErrIncompatible (or errors.ErrUnsupported) and says what differs. Kinds
// that refuse keys when they are full answer filter.ErrFull. After an error
// nothing was changed, unless other goroutines use up the memory meanwhile: then some
// of the keys may be there.
//
// Where duplicates are counted, keys that are in both sets count twice afterwards.
// The union of a set with itself changes nothing, whatever the kind.
func (s *Set) Union(other *Set) error {
	if s == other {
		return s.shards.mergeable()
	}
	return merge(s, other, s.shards.prepareUnion)
}

// prepareUnion does all of a union that can fail. A set of one shard needs no
// preparation: the union of its filter is done or not.
func (s shards) prepareUnion(f, other filter.Filter) (finish func(commit bool) error, err error) {
	if p, can := f.(merging.Preparer); can && len(s) > 1 {
		return p.PrepareUnion(other)
	}
	return atOnce(filter.Union)(f, other)
}

// Intersect keeps at least what is in both. The conditions are those of Union.
func (s *Set) Intersect(other *Set) error {
	if s == other {
		return s.shards.mergeable()
	}
	return merge(s, other, atOnce(filter.Intersect))
}

// Difference takes everything out that is in other. It needs a kind that stores its
// keys, evergreen; any other answers errors.ErrUnsupported. The conditions are those
// of Union.
func (s *Set) Difference(other *Set) error {
	if s != other {
		return merge(s, other, atOnce(filter.Difference))
	}
	if _, can := s.shards.kind().(filter.Differencer); !can {
		return s.shards.cannot("take differences")
	}
	return s.Clear()
}

// atOnce is the preparation of a verb that has none.
func atOnce(verb func(f, other filter.Filter) error) func(f, other filter.Filter) (func(bool) error, error) {
	return func(f, other filter.Filter) (func(bool) error, error) {
		return merging.OnCommit(func() {}), verb(f, other)
	}
}

// merge prepares all shards before it completes the first, so that one that is full
// leaves none changed. Locks are taken in an order that is the same for all callers.
func merge(s, other *Set, prepare func(f, other filter.Filter) (func(bool) error, error)) error {
	if err := compatible(s, other); err != nil {
		return err
	}
	first, second := s.shards.lockAll, other.shards.freezeAll
	if s.order > other.order {
		first, second = second, first
	}
	defer first()()
	defer second()()
	prepared := make([]func(bool) error, 0, len(s.shards))
	var failed error
	for i := range s.shards {
		finish, err := prepare(s.shards[i].filter, other.shards[i].filter)
		if err != nil {
			failed = s.shards.in(i, err)
			break
		}
		prepared = append(prepared, finish)
	}
	commit := failed == nil
	for i, finish := range prepared {
		if err := finish(commit); err != nil {
			failed = errors.Join(failed, s.shards.in(i, err))
		}
	}
	return failed
}

func compatible(s, other *Set) error {
	switch {
	case len(s.shards) == 0:
		return errZero
	case other == nil || len(other.shards) == 0:
		return fault.In("everbloom", "the other set holds no filter: %w", filter.ErrIncompatible)
	case s.hash != other.hash && s.hash.Name() == other.hash.Name():
		return mismatch(s.hash.Name()+" secret", "", "")
	case s.hash != other.hash:
		return mismatch("hash", s.hash.Name(), other.hash.Name())
	case len(s.shards) != len(other.shards):
		return mismatch("number of shards", strconv.Itoa(len(s.shards)), strconv.Itoa(len(other.shards)))
	}
	return nil
}

func mismatch(field, one, other string) error {
	return fault.In("everbloom", "%w", &filter.MismatchError{Field: field, One: one, Other: other})
}
