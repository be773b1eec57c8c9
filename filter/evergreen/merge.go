package evergreen

import (
	"errors"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
)

// Union adds what is in other, which may have any size and, where whole keys are
// kept, any rate and salt. A compact filter adds copies, and needs equal width and
// salt. Nothing is changed if the answer is ErrIncompatible, or ErrFull since there
// are too many keys for the width; if memory runs out, or a block is full, part of
// other has been added.
func (f *Filter) Union(other filter.Filter) error {
	o, err := f.peer(other)
	if err != nil {
		return err
	}
	if f == o {
		return f.double()
	}
	if n := o.Len(); f.Len()+n > uint64(f.capacity) {
		return errLimit
	}
	for x := range f.ours(o) {
		if _, err := f.add(x); err != nil {
			return err
		}
	}
	return nil
}

// double is the union of a filter with itself, which is itself where whole keys are
// kept. Otherwise every fingerprint gets a copy for each it has.
func (f *Filter) double() error {
	if f.full {
		return nil
	}
	twin, err := f.Clone()
	if err != nil {
		return err
	}
	return f.Union(twin)
}

// Intersect keeps what is also in other; a compact filter keeps as many copies as
// the one that has fewer. The error may be that of Delete.
func (f *Filter) Intersect(other filter.Filter) error {
	o, err := f.peer(other)
	if err != nil || f == o {
		return err
	}
	for x := range f.mixed() {
		if !f.exceeds(o, x) {
			continue
		}
		if err := f.delete(x); err != nil && !errors.Is(err, filter.ErrNotFound) {
			return err
		}
	}
	return nil
}

// exceeds reports whether f has x, which it is asked for once for every copy of it,
// more often than o.
func (f *Filter) exceeds(o *Filter, x uint64) bool {
	if f.full {
		return !o.Contains(f.mixer.key(x))
	}
	return f.copies(x) > o.copies(x)
}

// Difference takes out what is in other. It needs whole keys: a compact filter
// would take out keys that other never had.
func (f *Filter) Difference(other filter.Filter) error {
	o, err := f.peer(other)
	if err != nil {
		return err
	}
	if !f.full {
		return errNoKeys
	}
	for x := range f.ours(o) {
		if err := f.delete(x); err != nil && !errors.Is(err, filter.ErrNotFound) {
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
		return filter.Peer(f, other)
	case o == nil:
		return nil, fmt.Errorf("evergreen: merge with nothing: %w", filter.ErrIncompatible)
	case f.isClosed() || o.isClosed():
		return nil, errClosed
	case f.full && o.full:
		return o, nil
	}
	a, b := f.shape, o.shape
	if a.Width != b.Width || a.Salt != b.Salt {
		return nil, fmt.Errorf("evergreen: merge fingerprints of %d bits, salt %d, with %d bits, salt %d: %w",
			a.Width, a.Salt, b.Width, b.Salt, filter.ErrIncompatible)
	}
	return o, nil
}

// ours gives the mixed keys of o as f mixes them.
func (f *Filter) ours(o *Filter) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for x := range o.mixed() {
			if f.shape.Salt != o.shape.Salt {
				x = f.mixer.mix(o.mixer.key(x))
			}
			if !yield(x) {
				return
			}
		}
	}
}

// copies returns how often the fingerprint of x is stored.
func (f *Filter) copies(x uint64) (n int) {
	st := f.stripes.of(addressOf(x))
	st.Lock()
	defer st.Unlock()
	if f.closed {
		return math.MaxInt // so that nothing is taken for absent
	}
	for _, other := range st.inbox.list(st.waiting) {
		if f.same(other, x) {
			n++
		}
	}
	i, fp := f.place(x, f.load().blocks()), f.fingerprint(x)
	r := f.store.ref(i)
	if r.count() == 0 {
		return n
	}
	run := f.store.run(r)
	for j := range r.count() {
		if f.store.get(run, j) == fp {
			n++
		}
	}
	return n
}
