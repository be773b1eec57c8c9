package elastic

import (
	"iter"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Union adds what is in other, a *Filter of equal shape and any size. All
// fingerprints are kept: a key that is in both has two copies of each, which take
// room, and one Delete takes both out. If some find no room the error is ErrFull
// or ErrStorage, and nothing was changed. A filter united with itself stays as it
// is.
func (f *Filter) Union(other filter.Filter) error {
	return merging.Union(f, other)
}

// PrepareUnion unites and keeps both filters locked until the union is finished, or
// undone if it is not to be: changes, Info and Snapshot wait. Queries do not,
// and may find keys of other from now on. Where several pairs are prepared, the
// pairs come in one order for all goroutines.
func (f *Filter) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	o, err := merging.Peer(f, other)
	if err != nil {
		return nil, err
	}
	unlock := lockBoth(f, o)
	undo, err := f.uniteOrUndo(o)
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

// uniteOrUndo adds what is in o and returns the function that takes it out again. After
// an error the filter is as before.
func (f *Filter) uniteOrUndo(o *Filter) (undo func(), err error) {
	switch {
	case f.closed || o.closed:
		return nil, errClosed
	case o == f:
		return func() {}, nil
	}
	doublings, keys, exact := f.doublings, f.keys, f.exact
	f.exact = false // from here on there may be copies
	done, common, err := f.unite(o)
	undo = func() {
		f.part(o, done, doublings)
		f.keys, f.exact = keys, exact
	}
	if err != nil {
		undo()
		return nil, err
	}
	shared := uint64(math.Round(float64(common) / float64(f.hashes)))
	f.reckon(f.keys+o.keys-min(shared, f.keys, o.keys), exact && o.exact && common == 0)
	return undo, nil
}

// lockBoth locks two filters in the order in which they were made, so that two
// goroutines that unite them both ways do not wait for each other.
func lockBoth(f, o *Filter) (unlock func()) {
	if f == o {
		f.mu.Lock()
		return f.mu.Unlock
	}
	first, second := f, o
	if o.order < f.order {
		first, second = o, f
	}
	first.mu.Lock()
	second.mu.Lock()
	return func() {
		second.mu.Unlock()
		first.mu.Unlock()
	}
}

// unite adds all fingerprints of o, growing as needed. It returns how many it has
// added and how many of them f had before.
func (f *Filter) unite(o *Filter) (done, common uint64, err error) {
	for f.doublings < o.doublings {
		if err := f.expand(); err != nil {
			return 0, 0, err
		}
	}
	var one [1]uint64
	for x, nth := range o.all() {
		before := f.copiesOf(x) - nth // those of o's that came before x are not f's own
		one[0] = x
		if err := f.insert(one[:]); err != nil {
			return done, common, err
		}
		if before > nth {
			common++
		}
		done++
	}
	return done, common, f.fitThreshold()
}

// fitThreshold doubles the filter until the share of set bits is as wanted. A lack
// of memory only keeps the rate above the asked one.
func (f *Filter) fitThreshold() error {
	for f.settleAll(); f.set > f.limit; f.settleAll() {
		if f.doublings == f.shape.Growth {
			return errBits
		}
		if f.expand() != nil {
			f.postpone()
			return nil
		}
	}
	return nil
}

// part undoes unite: it takes out the first of o's fingerprints again and goes back
// to the size of before, which had room for the rest.
func (f *Filter) part(o *Filter, done uint64, doublings int) {
	var one [1]uint64
	for x := range o.all() {
		if done == 0 {
			break
		}
		done--
		one[0] = x
		f.remove(one[:], f.settleAt(one[:], f.locate(one[:])))
	}
	for f.doublings > doublings && f.halve(1) == nil {
	}
}

// all gives the number of each fingerprint, and how many equal ones of its bucket
// were given before it. Nothing may be changed meanwhile.
func (f *Filter) all() iter.Seq2[uint64, int] {
	return func(yield func(x uint64, nth int) bool) {
		for segment := range uint64(1) << f.doublings {
			for group := range f.slow.segment {
				all := f.slow.gather(f.slow.tree(segment, group), f.entries[:0])
				for i, e := range all {
					if !yield(f.join(group, e), countOf(all[:i], e)) {
						return
					}
				}
			}
		}
	}
}

// join returns the number that an entry of a group was made from.
func (f *Filter) join(group uint64, e entry) uint64 {
	return e.fp<<f.sizeBits | (group*f.slow.branches + e.branch)
}

func countOf(all []entry, e entry) (n int) {
	for _, other := range all {
		if other == e {
			n++
		}
	}
	return n
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
	f.settleAll()
	for segment := range uint64(1) << f.doublings {
		for group := range f.slow.segment {
			f.keepCommon(segment, group, o)
		}
	}
	f.reckon(min(f.keys, o.keys, uint64(math.Round(float64(f.prints)/float64(f.hashes)))), false)
	f.shrinkToFit()
	return nil
}

// keepCommon keeps in a tree what o has, too.
func (f *Filter) keepCommon(segment, group uint64, o *Filter) {
	t := f.slow.tree(segment, group)
	all := f.slow.gather(t, f.entries[:0])
	if len(all) == 0 {
		return
	}
	f.slow.wipe(t)
	for i, e := range all {
		if o.copiesOf(f.join(group, e)) > countOf(all[:i], e) {
			f.slow.add(t, e.branch, e.fp)
		} else {
			f.prints--
		}
	}
	f.clearVacant(segment, group, t, all)
}
