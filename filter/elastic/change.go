package elastic

import (
	"unsafe"

	"github.com/everbloom-go/everbloom/internal/line"
)

// A rest is what is left to do after a change of one key was tried with the stripes of its
// trees.
type rest int

const (
	nothing    rest = iota
	splitFirst      // trees of the key must be split, and then it is tried again
	alone           // it must be made by a goroutine that holds all stripes
	fit             // the size or the count of keys may have to be put right
)

// prepare returns the stripes of a key, and asks for the memory that a change of it will
// use, so that the cache misses overlap. It needs no lock: what it asks for may be out of
// date.
func (f *Filter) prepare(xs []uint64) (set lockset) {
	a, l := f.fast.Load(), &f.table.slow.layout
	for _, x := range xs {
		i := x & a.mask
		group, branch := l.group(i & (1<<l.sizeBits - 1))
		f.stripes.include(&set, group, group)
		if a.blocks == nil {
			continue // closed
		}
		block, at, _ := l.locate(i>>l.sizeBits, group)
		words := a.blocks[block]
		first, last := at/64, (at+l.head+branch*l.width+l.width-1)/64
		line.Prefetch(unsafe.Pointer(&a.words[i/64]))
		line.Prefetch(unsafe.Pointer(&words[first]))
		if first/8 != last/8 {
			line.Prefetch(unsafe.Pointer(&words[last]))
		}
	}
	return set
}

// add adds the key of the numbers xs.
func (f *Filter) add(xs []uint64) (added bool, err error) {
	locks := f.prepare(xs)
	return f.addWith(&locks, xs)
}

// addWith is add for a key whose stripes are known.
func (f *Filter) addWith(locks *lockset, xs []uint64) (added bool, err error) {
	left := splitFirst
	for left == splitFirst {
		f.stripes.lock(locks)
		added, left, err = f.tryAdd(xs)
		f.stripes.unlock(locks)
		if left == splitFirst {
			f.splitTrees(xs)
		}
	}
	switch left {
	case alone:
		err = f.change(func() (err error) {
			added, err = f.addAlone(xs)
			return err
		})
	case fit:
		_ = f.change(func() error {
			f.growIfNeeded()
			return nil
		})
	}
	if err == nil {
		f.splitNext()
	}
	return added, err
}

// tryAdd adds a key whose stripes are held.
func (f *Filter) tryAdd(xs []uint64) (added bool, left rest, err error) {
	t := &f.table
	switch {
	case f.closed:
		return false, nothing, errClosed
	case t.copies(xs) > 0:
		return false, nothing, nil
	case !t.areSplit(xs):
		return false, splitFirst, nil
	case f.isFull():
		return false, nothing, errBits
	case !t.add(xs):
		return false, alone, nil
	}
	t.keys.Add(1)
	if f.mustGrow() {
		return true, fit, nil
	}
	return true, nothing, nil
}

// addAlone adds a key with all stripes held.
func (f *Filter) addAlone(xs []uint64) (added bool, err error) {
	if f.table.copies(xs) > 0 {
		return false, nil
	}
	if err := f.insert(xs); err != nil {
		return false, err
	}
	f.table.keys.Add(1)
	f.growIfNeeded()
	return true, nil
}

// insert puts all fingerprints of a key into their buckets and sets its bits, or changes
// nothing. All stripes are held.
func (f *Filter) insert(xs []uint64) error {
	if f.isFull() {
		return errBits
	}
	for {
		for _, x := range xs {
			f.table.splitTree(x)
		}
		if f.table.add(xs) {
			return nil
		}
		if err := f.makeRoom(xs); err != nil {
			return err
		}
	}
}

// delete deletes the key of the numbers xs.
func (f *Filter) delete(xs []uint64) error {
	locks := f.prepare(xs)
	var err error
	left := splitFirst
	for left == splitFirst {
		f.stripes.lock(&locks)
		left, err = f.tryDelete(xs)
		f.stripes.unlock(&locks)
		if left == splitFirst {
			f.splitTrees(xs)
		}
	}
	switch left {
	case alone:
		err = f.change(func() error { return f.deleteAlone(xs) })
	case fit:
		_ = f.change(func() error {
			f.setKeys(f.table.keys.Load(), f.exact)
			f.maybeShrink()
			return nil
		})
	}
	if err == nil {
		f.splitNext()
	}
	return err
}

// tryDelete deletes a key whose stripes are held. It takes one copy of each fingerprint
// while the keys are counted: others are of keys that share its numbers.
func (f *Filter) tryDelete(xs []uint64) (left rest, err error) {
	t := &f.table
	switch {
	case f.closed:
		return nothing, errClosed
	case !f.exact:
		return alone, nil
	case t.copies(xs) == 0:
		return nothing, errNotFound
	case !t.areSplit(xs):
		return splitFirst, nil
	}
	t.remove(xs)
	if keys := t.keys.Add(-1); f.mustShrink() || !f.agrees(keys) {
		return fit, nil
	}
	return nothing, nil
}

// deleteAlone deletes a key with all stripes held. If the keys are not counted all its
// copies go.
func (f *Filter) deleteAlone(xs []uint64) error {
	t := &f.table
	n := t.copies(xs)
	if n == 0 {
		return errNotFound
	}
	for _, x := range xs {
		t.splitTree(x)
	}
	if f.exact {
		n = 1
	}
	for range n {
		t.remove(xs)
	}
	f.setKeys(max(t.keys.Load(), 1)-1, f.exact)
	f.maybeShrink()
	return nil
}

// agrees reports whether the fingerprints do not contradict a count of keys.
func (f *Filter) agrees(keys int64) bool {
	prints := f.table.prints.Load()
	return keys >= 0 && keys <= prints && prints <= keys*int64(f.hashes)
}

// setKeys sets the number of keys. Estimates are kept within what the fingerprints
// allow, and a count that they contradict is one no longer: keys that were mistaken for
// others can do that. All stripes are held.
func (f *Filter) setKeys(keys int64, exact bool) {
	prints := f.table.prints.Load()
	f.exact = prints == 0 || exact && f.agrees(keys)
	f.table.keys.Store(max(0, min(keys, prints)))
}

// splitTrees splits the runs of a key's trees, each with its stripes held.
func (f *Filter) splitTrees(xs []uint64) {
	l := &f.table.slow.layout
	for _, x := range xs {
		group, _ := l.group(x & (1<<l.sizeBits - 1))
		f.withRun(group/runTrees, func() { f.table.splitTree(x) })
	}
}

// withRun does something with the stripes of a run held, unless no run is to be split.
func (f *Filter) withRun(run uint64, do func()) {
	var locks lockset
	first := run * runTrees
	f.stripes.include(&locks, first, min(first+runTrees, f.table.slow.segment)-1)
	f.stripes.lock(&locks)
	if f.table.slow.unsplit.Load() > 0 {
		do()
	}
	f.stripes.unlock(&locks)
}

// splitNext splits the next runs in order, as many as a change has to.
func (f *Filter) splitNext() {
	for runs := (f.pace + runTrees - 1) / runTrees; runs > 0 && f.splitOne(); runs-- {
	}
}

// splitOne splits the next run in order, and reports whether there was one.
func (f *Filter) splitOne() (ok bool) {
	s := f.table.slow
	if s.unsplit.Load() == 0 {
		return false
	}
	r := s.next.Add(1) - 1
	f.withRun(r%s.runs, func() {
		if ok = r < uint64(len(s.split)); ok {
			f.table.splitRun(r/s.runs, r%s.runs)
		}
	})
	return ok
}
