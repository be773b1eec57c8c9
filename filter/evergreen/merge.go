package evergreen

import (
	"errors"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Intersect keeps what is also in other; a compact filter keeps as many copies as
// the one that has fewer. The error may be that of Delete.
func (f *Filter) Intersect(other filter.Filter) error {
	o, err := f.peer(other)
	if err != nil || f == o {
		return err
	}
	if !f.shape.Exact() {
		return intersect(f.table.Load(), o.table.Load())
	}
	for k := range f.Keys() {
		if o.Contains(k) {
			continue
		}
		if err := f.Delete(k); err != nil && !errors.Is(err, filter.ErrNotFound) {
			return err
		}
	}
	return nil
}

// intersect deletes the copies of compact t that o does not have, each of which is
// given once.
func intersect(t, o *table) error {
	for mixed := range t.mixed() {
		if t.copies(mixed) <= o.copies(mixed) {
			continue
		}
		if _, err := t.delete(mixed); err != nil && !errors.Is(err, filter.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Difference takes out what is in other. It needs whole keys: a compact filter
// would take out keys that other never had.
func (f *Filter) Difference(other filter.Filter) error {
	o, err := f.peer(other)
	if err != nil {
		return err
	}
	if !f.shape.Exact() {
		return errNoKeys
	}
	for k := range o.Keys() {
		if err := f.Delete(k); err != nil && !errors.Is(err, filter.ErrNotFound) {
			return err
		}
	}
	return nil
}

// peer returns other as a filter that can be merged with f.
func (f *Filter) peer(other filter.Filter) (*Filter, error) {
	o, ok := other.(*Filter)
	switch {
	case !ok:
		return merging.Peer(f, other)
	case o == nil:
		return nil, fmt.Errorf("evergreen: merge with nothing: %w", filter.ErrIncompatible)
	case f.isClosed() || o.isClosed():
		return nil, errClosed
	case f.shape.Exact() && o.shape.Exact():
		return o, nil
	}
	a, b := f.shape, o.shape
	a.FPR, a.Hashes = b.FPR, b.Hashes // need not be equal
	return o, merging.Same("evergreen", a, b)
}

// copies returns how often the fingerprint of a mixed key is stored.
func (t *table) copies(mixed uint64) (n int) {
	st := t.stripes.of(addressOf(mixed))
	st.Lock()
	defer st.Unlock()
	if t.gone == closed {
		return math.MaxInt // so that no key is taken for absent
	}
	for _, other := range st.inbox.keys() {
		if t.alike(other, mixed) {
			n++
		}
	}
	r := *t.store.Ref(place(mixed, t.load().blocks()))
	if r.Count() == 0 {
		return n
	}
	run := t.store.Run(r)
	for i := range run.Len() {
		if run.At(i) == t.fingerprint(mixed) {
			n++
		}
	}
	return n
}
