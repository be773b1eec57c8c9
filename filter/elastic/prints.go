package elastic

import "math"

// In this file: what is done with the numbers of one key, the mutex being held.
//
// A number x of w bits says it all. The bucket is x mod m; of the quotient by the
// initial size, which is what a slot keeps, the lowest bits are those of the
// bucket's number that doublings added, and the rest is the fingerprint at the
// present size.

// home returns where the bucket of x was put, its group and branch, and its
// segment.
func (f *Filter) home(x uint64) (segment, group, branch uint64) {
	group, branch = f.slow.group(x & (1<<f.sizeBits - 1))
	return x >> f.sizeBits & (1<<f.doublings - 1), group, branch
}

// whereabouts is home, but for what is unsettled: in a tree of the lower half are also
// the fingerprints of its twin in the upper half until then.
func (f *Filter) whereabouts(x uint64) (segment, group, branch uint64) {
	segment, group, branch = f.home(x)
	if f.unsettled > 0 {
		if low := segment & f.lowMask(); !f.settled(low, group) {
			segment = low
		}
	}
	return segment, group, branch
}

// find returns the tree in which the fingerprint of x is to be looked for.
func (f *Filter) find(x uint64) (t tree, branch, fp uint64) {
	segment, group, branch := f.whereabouts(x)
	return f.slow.tree(segment, group), branch, x >> f.sizeBits
}

// own returns the tree in which the fingerprint of x is to be put, settled.
func (f *Filter) own(x uint64) (t tree, branch, fp uint64) {
	segment, group, branch := f.home(x)
	if f.unsettled > 0 {
		if low := segment & f.lowMask(); !f.settled(low, group) {
			f.settle(low, group)
		}
	}
	return f.slow.tree(segment, group), branch, x >> f.sizeBits
}

// A place is where a fingerprint is to be looked for. It has the number of a block, not
// the block itself, which could not be given back otherwise.
type place struct {
	block          int
	at, branch, fp uint64
}

// locate finds the places of a key's fingerprints. It reads all that will be looked at
// there, so that the cache misses overlap.
func (f *Filter) locate(xs []uint64) []place {
	a := f.fast.Load()
	seen := uint64(0)
	for i, x := range xs {
		segment, group, branch := f.whereabouts(x)
		block, at := f.slow.locate(segment, group)
		f.places[i] = place{block, at, branch, x >> f.sizeBits}
		t := tree{f.slow.blocks[block], at}
		seen |= t.head() | t.words[f.slow.first(t, branch)/64] | a.words[x&a.mask/64]
	}
	f.seen = seen
	return f.places[:len(xs)]
}

// copies returns how often the key of the numbers xs is there: as often as each of
// its fingerprints is.
func (f *Filter) copies(xs []uint64) int { return f.copiesAt(xs, f.locate(xs)) }

func (f *Filter) copiesAt(xs []uint64, places []place) int {
	a := f.fast.Load()
	for _, x := range xs {
		if !a.has(x & a.mask) {
			return 0
		}
	}
	least := math.MaxInt
	for _, p := range places {
		if least = min(least, f.slow.copies(f.treeAt(p), p.branch, p.fp)); least == 0 {
			return 0
		}
	}
	return least
}

func (f *Filter) treeAt(p place) tree { return tree{f.slow.blocks[p.block], p.at} }

// copiesOf returns how often a single fingerprint is there.
func (f *Filter) copiesOf(x uint64) int {
	t, branch, fp := f.find(x)
	return f.slow.copies(t, branch, fp)
}

// reckon sets the number of keys. Estimates are kept within what the fingerprints
// allow, and a count that they contradict is one no longer: keys that were mistaken
// for others can do that.
func (f *Filter) reckon(keys uint64, exact bool) {
	f.keys = min(keys, f.prints)
	f.exact = f.prints == 0 || exact && f.keys == keys && f.prints <= keys*uint64(f.hashes)
}

// insert puts all fingerprints of a key into their buckets and sets its bits, or
// changes nothing.
func (f *Filter) insert(xs []uint64) error {
	if f.spent() {
		return errBits
	}
	for {
		n := f.place(xs)
		if n == len(xs) {
			break
		}
		f.displace(xs[:n])
		if err := f.makeRoom(xs); err != nil {
			return err
		}
	}
	a := f.fast.Load()
	for _, x := range xs {
		f.set += a.set(x & a.mask)
	}
	f.prints += uint64(len(xs))
	return nil
}

// spent reports whether the filter should have grown and never can.
func (f *Filter) spent() bool {
	return f.doublings == f.shape.Growth && f.unsettled == 0 && f.set > f.limit
}

// place puts fingerprints into buckets up to the first that finds no room, and
// returns how many.
func (f *Filter) place(xs []uint64) int {
	for i, x := range xs {
		t, branch, fp := f.own(x)
		if !f.slow.add(t, branch, fp) {
			return i
		}
	}
	return len(xs)
}

// displace takes back what place has put.
func (f *Filter) displace(xs []uint64) {
	for _, x := range xs {
		f.slow.take(f.own(x))
	}
}

// remove takes one copy of each fingerprint out, all of which must be there, in settled
// trees. The bit of a bucket that becomes empty is cleared.
func (f *Filter) remove(xs []uint64, places []place) {
	a := f.fast.Load()
	for i, p := range places {
		if f.slow.take(f.treeAt(p), p.branch, p.fp) {
			f.set -= a.clear(xs[i] & a.mask)
		}
	}
	f.prints -= uint64(len(xs))
}

// settleAt settles the trees of a key and returns where its fingerprints are then.
func (f *Filter) settleAt(xs []uint64, places []place) []place {
	if f.unsettled == 0 {
		return places
	}
	for _, x := range xs {
		f.own(x)
	}
	return f.locate(xs)
}
