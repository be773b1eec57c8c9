package elastic

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// A table is both memories with what they hold: fingerprints in buckets, and a bit for
// each bucket that is not empty. It works with the numbers of keys. Only writers use it,
// one at a time; readers use the bits.
type table struct {
	fast *atomic.Pointer[fast] // what queries read
	slow *slow

	threshold float64 // share of set bits that makes the filter double
	limit     uint64  // the same as a number of bits
	set       uint64  // bits
	prints    uint64  // fingerprints

	places  []place // room for those of one key
	entries []entry // room for those of two trees
	seen    uint64  // what was read only to have it near
}

// newTable returns an empty table of the initial size.
func newTable(s Shape, from mem.Allocator, bits *atomic.Pointer[fast]) (t table, err error) {
	t = table{
		fast: bits, threshold: s.Threshold,
		places: make([]place, s.Hashes), entries: make([]entry, 0, 2*(s.Branches+1)*s.Slots),
	}
	if t.slow, err = newSlow(s, from); err != nil {
		return t, err
	}
	a, err := newFast(s.Bits)
	if err == nil {
		t.publish(a)
	}
	return t, err
}

// publish makes a the bits that queries read.
func (t *table) publish(a *fast) {
	t.limit = uint64(t.threshold * float64(a.size()))
	t.fast.Store(a)
}

// size returns the number of bits.
func (t *table) size() uint64 { return t.fast.Load().size() }

// clear goes back to the initial size, without keys.
func (t *table) clear() error {
	a, err := newFast(t.size() >> t.slow.doublings)
	if err != nil {
		return err
	}
	t.slow.clear()
	t.set, t.prints = 0, 0
	t.publish(a)
	return nil
}

// A place is where a fingerprint is looked for. It has the number of a block, not the
// block itself, which could not be given back otherwise.
type place struct {
	block          int
	at, branch, fp uint64
}

func (t *table) treeAt(p place) tree { return tree{&t.slow.layout, &t.slow.blocks[p.block], p.at} }

// locate finds the places of a key's fingerprints. It then reads all that will be looked
// at there, in a loop of its own, so that the cache misses overlap.
func (t *table) locate(xs []uint64) []place {
	a := t.fast.Load()
	seen := uint64(0)
	for i, x := range xs {
		segment, group, branch := t.slow.find(x)
		block, at := t.slow.locate(segment, group)
		t.places[i] = place{block, at, branch, x >> t.slow.sizeBits}
	}
	for i, x := range xs {
		p := &t.places[i]
		words := t.slow.blocks[p.block]
		seen |= words[p.at/64] | words[(p.at+t.slow.head+p.branch*t.slow.width)/64] | a.words[x&a.mask/64]
	}
	t.seen = seen
	return t.places[:len(xs)]
}

// copies returns how often the key of the numbers xs is there: as often as each of its
// fingerprints is.
func (t *table) copies(xs []uint64) int { return t.copiesAt(xs, t.locate(xs)) }

func (t *table) copiesAt(xs []uint64, places []place) int {
	a := t.fast.Load()
	for _, x := range xs {
		if !a.has(x & a.mask) {
			return 0
		}
	}
	least := math.MaxInt
	for _, p := range places {
		if least = min(least, t.treeAt(p).copies(p.branch, p.fp)); least == 0 {
			return 0
		}
	}
	return least
}

// copiesOf returns how often a single fingerprint is there.
func (t *table) copiesOf(x uint64) int {
	segment, group, branch := t.slow.find(x)
	return t.slow.tree(segment, group).copies(branch, x>>t.slow.sizeBits)
}

// add puts all fingerprints of a key into their buckets and sets its bits, or changes
// nothing and reports that some find no room.
func (t *table) add(xs []uint64) bool {
	for i, x := range xs {
		tree, branch := t.treeOf(x)
		if !tree.add(branch, x>>t.slow.sizeBits) {
			for _, x := range xs[:i] {
				tree, branch := t.treeOf(x)
				tree.take(branch, x>>t.slow.sizeBits)
			}
			return false
		}
	}
	a := t.fast.Load()
	for _, x := range xs {
		t.set += a.set(x & a.mask)
	}
	t.prints += uint64(len(xs))
	return true
}

// treeOf returns the tree in which the fingerprint of x is put, split, and the branch.
func (t *table) treeOf(x uint64) (tree, uint64) {
	segment, group, branch := t.slow.home(x)
	if t.slow.unsplit > 0 && t.slow.isUnsplit(segment, group) {
		t.split(segment&(1<<(t.slow.doublings-1)-1), group)
	}
	return t.slow.tree(segment, group), branch
}

// splitAt splits the trees of a key and returns where its fingerprints are then.
func (t *table) splitAt(xs []uint64, places []place) []place {
	if t.slow.unsplit == 0 {
		return places
	}
	for _, x := range xs {
		t.treeOf(x)
	}
	return t.locate(xs)
}

// remove takes one copy of each fingerprint out, all of which must be there, in split
// trees. The bit of a bucket that becomes empty is cleared.
func (t *table) remove(xs []uint64, places []place) {
	a := t.fast.Load()
	for i, p := range places {
		if t.treeAt(p).take(p.branch, p.fp) {
			t.set -= a.clear(xs[i] & a.mask)
		}
	}
	t.prints -= uint64(len(xs))
}

// keepCommon keeps in a tree what o has, too.
func (t *table) keepCommon(segment, group uint64, o *table) {
	tree := t.slow.tree(segment, group)
	all := tree.gather(t.entries[:0])
	if len(all) == 0 {
		return
	}
	tree.wipe()
	for i, e := range all {
		if o.copiesOf(t.slow.number(group, e)) > countOf(all[:i], e) {
			tree.add(e.branch, e.fp)
		} else {
			t.prints--
		}
	}
	t.clearVacant(t.slow.firstBit(segment, group), tree, all)
}

func countOf(all []entry, e entry) (n int) {
	for _, other := range all {
		if other == e {
			n++
		}
	}
	return n
}

// clearVacant clears the bits of the branches of a tree that are empty now. Only those
// of the entries can have been set.
func (t *table) clearVacant(firstBit uint64, tree tree, of []entry) {
	a := t.fast.Load()
	for _, e := range of {
		if tree.vacant(e.branch) {
			t.set -= a.clear(firstBit + e.branch)
		}
	}
}

// setAll makes the bits that belong to the buckets. All trees are split.
func (t *table) setAll(size uint64) error {
	a, err := newFast(size)
	if err != nil {
		return err
	}
	for segment, group := range t.slow.trees() {
		tree := t.slow.tree(segment, group)
		counts := tree.counts()
		for branch := range t.slow.branchesOf(group) {
			if tree.countOf(counts, branch) > 0 {
				t.set += a.set(t.slow.firstBit(segment, group) + branch)
			}
		}
	}
	t.publish(a)
	return nil
}

// crowd returns the entries of a tree that would overflow if xs were added after e
// doublings, or nil if there is none. All trees are split.
func (t *table) crowd(xs []uint64, e int) []entry {
	for _, x := range xs {
		if all := t.neighbours(xs, x, e); !t.slow.fits(all) {
			return all
		}
	}
	return nil
}

// neighbours returns what would be in the tree of x after e doublings, which are no
// fewer than there were, with xs. The lowest e bits of a fingerprint are those of its
// segment.
func (t *table) neighbours(xs []uint64, x uint64, e int) []entry {
	s := t.slow
	same, fp := uint64(1)<<e-1, x>>s.sizeBits
	segment, group, _ := s.home(x)
	all := slices.DeleteFunc(s.tree(segment, group).gather(t.entries[:0]), func(o entry) bool { return (o.fp^fp)&same != 0 })
	for _, y := range xs {
		if _, g, branch := s.home(y); g == group && (y>>s.sizeBits^fp)&same == 0 {
			all = append(all, entry{branch, y >> s.sizeBits})
		}
	}
	return all
}

// slotFill returns the share of slots that hold fingerprints, those of level 2 included:
// the load rate of [EBF21] Sec. 5.1.3.
func (t *table) slotFill() float64 {
	slots := float64(t.size())
	if t.slow.branches > 1 {
		slots += float64(t.slow.segment) * math.Ldexp(1, t.slow.doublings)
	}
	return float64(t.prints) / (slots * float64(t.slow.slots))
}

// fastBits returns the memory of so many bits.
func fastBits(size uint64) uint64 { return 64 * bitvec.WordsFor(size) }
