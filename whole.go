package everbloom

import (
	"crypto/sha256"
	"io"
	"iter"

	"github.com/everbloom-go/everbloom/filter"
)

// Clear takes all keys out. The kind, its size and the hash stay. A query beside it
// finds a key or not.
func (s *Set) Clear() error { return s.shards.each(filter.Clear) }

// Grow enlarges the set by one step, so that its rate falls. The kinds that can are
// evergreen and elastic; both also grow by themselves.
func (s *Set) Grow() error { return s.shards.each(filter.Grow) }

// Shrink makes the set smaller by one step, if the rate allows it. The kinds that can
// are those of Grow.
func (s *Set) Shrink() error { return s.shards.each(filter.Shrink) }

// Close removes the slow file, if there is one: see [Needs].SlowFile. Other sets need
// no Close. A set whose slow file is gone only answers queries.
func (s *Set) Close() error {
	if len(s.shards) == 0 {
		return nil
	}
	return s.shards.each(closeFilter)
}

func closeFilter(f filter.Filter) error {
	if c, ok := f.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Keys returns the keys in the set as the set's Hash made them, in no order. Kinds
// that do not store keys answer errors.ErrUnsupported; evergreen can. A key that is
// in the set throughout is among them.
func (s *Set) Keys() (iter.Seq[filter.Key], error) {
	if _, can := s.shards.kind().(filter.Lister); !can {
		return nil, s.shards.cannot("list its keys")
	}
	return func(yield func(filter.Key) bool) {
		for i := range s.shards {
			if !s.shards[i].list(yield) {
				return
			}
		}
	}, nil
}

// list yields the keys of the filter until yield returns false.
func (sh *shard) list(yield func(filter.Key) bool) bool {
	sh.freeze()
	defer sh.thaw()
	for k := range sh.filter.(filter.Lister).Keys() {
		if !yield(k) {
			return false
		}
	}
	return true
}

// Clone returns a copy, in ordinary memory. Of a set that is being changed each shard
// is copied at a moment of its own.
func (s *Set) Clone() (*Set, error) {
	if len(s.shards) == 0 {
		return nil, errZero
	}
	r, w := io.Pipe()
	go func() {
		_, err := s.WriteTo(w)
		_ = w.CloseWithError(err)
	}()
	clone, err := Read(r)
	_ = r.Close() // so that the writer ends
	return clone, err
}

// Equal reports whether both sets hold the same: they have the same hash, the same
// number of shards and equal filters. Filters that store their keys are equal if
// their keys are, others if kind, shape and bits are.
func (s *Set) Equal(other *Set) bool {
	if s == other {
		return true
	}
	if other == nil || s.hash != other.hash || len(s.shards) != len(other.shards) {
		return false
	}
	for i := range s.shards {
		if !equal(&s.shards[i], &other.shards[i]) {
			return false
		}
	}
	return true
}

func equal(a, b *shard) bool {
	if _, lists := a.filter.(filter.Lister); lists {
		if in, exact := b.filter.(filter.Exact); exact {
			return a.info().Keys == b.info().Keys && a.list(in.Contains)
		}
	}
	x, errX := a.digest()
	y, errY := b.digest()
	return errX == nil && errY == nil && x == y
}

// digest returns a checksum of the stored form.
func (sh *shard) digest() (sum [sha256.Size]byte, err error) {
	image, err := sh.snapshot()
	if err != nil {
		return sum, err
	}
	d := sha256.New()
	_, err = image.WriteTo(d)
	return [sha256.Size]byte(d.Sum(nil)), err
}
