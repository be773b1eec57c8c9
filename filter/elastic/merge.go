package elastic

import (
	"iter"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Union adds what is in other, a *Filter of equal shape and any size. All fingerprints
// are kept: a key that is in both has two copies of each, which take room, and one
// Delete takes both out. If some find no room the error is ErrFull or ErrStorage, and
// nothing was changed. A filter united with itself stays as it is.
func (f *Filter) Union(other filter.Filter) error {
	return merging.Union(f, other)
}

// PrepareUnion unites and keeps both filters locked until the union is finished, or
// undone if it is not to be: changes, Info and Snapshot wait. Queries do not, and may
// find keys of other from now on. Where several pairs are prepared, the pairs come in one
// order for all goroutines.
func (f *Filter) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	o, err := merging.Peer(f, other)
	if err != nil {
		return nil, err
	}
	unlock := lockBoth(f, o)
	undo, err := unite(f, o)
	if err != nil {
		unlock()
		return nil, err
	}
	return func(commit bool) error {
		if !commit {
			undo()
		}
		unlock()
		return nil
	}, nil
}

// lockBoth locks two filters in the order in which they were made, so that two
// goroutines that unite them both ways do not wait for each other.
func lockBoth(f, o *Filter) (unlock func()) {
	if f == o {
		f.stripes.lockAll()
		return f.stripes.unlockAll
	}
	first, second := f, o
	if o.order < f.order {
		first, second = o, f
	}
	first.stripes.lockAll()
	second.stripes.lockAll()
	return func() {
		second.stripes.unlockAll()
		first.stripes.unlockAll()
	}
}

// unite adds to f what is in o and returns the function that takes it out again. After
// an error f is as before.
func unite(f, o *Filter) (undo func(), err error) {
	switch {
	case f.closed || o.closed:
		return nil, errClosed
	case o == f:
		return func() {}, nil
	}
	u := union{f: f, o: o, doublings: f.table.slow.doublings, keys: f.table.keys.Load(), exact: f.exact}
	f.exact = false // from here on there may be copies
	if err := u.do(); err != nil {
		u.undo()
		return nil, err
	}
	shared := int64(math.Round(float64(u.common) / float64(f.hashes)))
	mine, theirs := f.table.keys.Load(), o.table.keys.Load()
	f.setKeys(mine+theirs-min(shared, mine, theirs), u.exact && o.exact && u.common == 0)
	return u.undo, nil
}

// A union is what is needed to undo one.
type union struct {
	f, o      *Filter
	doublings int // of f before
	keys      int64
	exact     bool

	done   uint64 // fingerprints of o that were added
	common uint64 // of these f had before
}

// do adds all fingerprints of o, growing as needed.
func (u *union) do() error {
	f := u.f
	for f.table.slow.doublings < u.o.table.slow.doublings {
		if err := f.double(); err != nil {
			return err
		}
	}
	var one [1]uint64
	for x, nth := range u.o.table.all() {
		before := f.table.copiesOf(x) - nth // without those of o that came before x
		one[0] = x
		if err := f.insert(one[:]); err != nil {
			return err
		}
		if before > nth {
			u.common++
		}
		u.done++
	}
	return u.fitThreshold()
}

// undo takes out what was added and goes back to the size of before, which had room for
// the rest.
func (u *union) undo() {
	t := &u.f.table
	var one [1]uint64
	for x := range u.o.table.all() {
		if u.done == 0 {
			break
		}
		u.done--
		one[0] = x
		t.splitTree(x)
		t.remove(one[:])
	}
	for t.slow.doublings > u.doublings && u.f.halve(1) == nil {
	}
	t.keys.Store(u.keys)
	u.f.exact = u.exact
}

// fitThreshold doubles the filter until the share of set bits is as wanted. A lack of
// memory only keeps the rate above the asked one.
func (u *union) fitThreshold() error {
	f, t := u.f, &u.f.table
	for t.splitAll(); t.set.Load() > t.limit; t.splitAll() {
		if t.slow.doublings == f.shape.Growth {
			return errBits
		}
		if f.double() != nil {
			f.postpone()
			return nil
		}
	}
	return nil
}

// all gives the number of each fingerprint, and how many equal ones of its bucket were
// given before it. Nothing may be changed meanwhile.
func (t *table) all() iter.Seq2[uint64, int] {
	return func(yield func(x uint64, nth int) bool) {
		for segment, group := range t.slow.trees() {
			all := t.slow.tree(segment, group).gather(t.entries[:0])
			for i, e := range all {
				if !yield(t.slow.number(group, e), countOf(all[:i], e)) {
					return
				}
			}
		}
	}
}

// Intersect keeps the fingerprints that are in both f and other, a *Filter of equal
// shape and any size, as often as in the one that has fewer copies.
func (f *Filter) Intersect(other filter.Filter) error {
	o, err := merging.Peer(f, other)
	if err != nil || o == f {
		return err
	}
	unlock := lockBoth(f, o)
	defer unlock()
	if f.closed || o.closed {
		return errClosed
	}
	t := &f.table
	t.splitAll()
	for segment, group := range t.slow.trees() {
		t.keepCommon(segment, group, &o.table)
	}
	shared := int64(math.Round(float64(t.prints.Load()) / float64(f.hashes)))
	f.setKeys(min(t.keys.Load(), o.table.keys.Load(), shared), false)
	f.shrinkToFit()
	return nil
}
