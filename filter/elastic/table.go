package elastic

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// A table is both memories with what they hold: fingerprints in buckets, and a bit for
// each bucket that is not empty. It works with the numbers of keys. Only writers use it;
// readers use the bits. What is not of trees or atomic is read by a writer that holds any
// stripe, and changed by one that holds all.
type table struct {
	fast *atomic.Pointer[fast] // what queries read
	slow *slow

	threshold float64 // share of set bits that makes the filter double
	limit     int64   // the same as a number of bits
	entries   []entry // room for those of two trees, for a writer that holds all stripes

	counts
}

// counts is what every change counts, in a cache line of its own.
type counts struct {
	_      [64]byte
	set    atomic.Int64 // bits
	prints atomic.Int64 // fingerprints
	keys   atomic.Int64
	_      [64]byte
}

// init makes an empty table of the initial size.
func (t *table) init(s Shape, from mem.Allocator, bits *atomic.Pointer[fast]) (err error) {
	t.fast, t.threshold, t.entries = bits, s.Threshold, make([]entry, 0, 2*(s.Branches+1)*s.Slots)
	if t.slow, err = newSlow(s, from); err != nil {
		return err
	}
	a, err := newFast(s.Bits)
	if err == nil {
		t.publish(a)
	}
	return err
}

// publish makes a the bits that queries read.
func (t *table) publish(a *fast) {
	t.limit = int64(t.threshold * float64(a.size()))
	a.blocks = slices.Clone(t.slow.blocks[:t.slow.doublings+1])
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
	t.set.Store(0)
	t.prints.Store(0)
	t.publish(a)
	return nil
}

// close gives the slow memory back and removes its file, if there is one. Queries can go
// on.
func (t *table) close() error {
	a := t.fast.Load()
	t.fast.Store(&fast{words: a.words, mask: a.mask})
	return t.slow.close()
}

// copies returns how often the key of the numbers xs is there: as often as each of its
// fingerprints is.
func (t *table) copies(xs []uint64) int {
	a := t.fast.Load()
	for _, x := range xs {
		if !a.has(x & a.mask) {
			return 0
		}
	}
	least := math.MaxInt
	for _, x := range xs {
		if least = min(least, t.copiesOf(x)); least == 0 {
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
// nothing and reports that some find no room. Their trees are split.
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
	set := int64(0)
	for _, x := range xs {
		set += a.set(x & a.mask)
	}
	t.set.Add(set)
	t.prints.Add(int64(len(xs)))
	return true
}

// treeOf returns the tree in which the fingerprint of x is put, and the branch.
func (t *table) treeOf(x uint64) (tree, uint64) {
	segment, group, branch := t.slow.home(x)
	return t.slow.tree(segment, group), branch
}

// remove takes one copy of each fingerprint out, all of which must be there, in split
// trees. The bit of a bucket that becomes empty is cleared.
func (t *table) remove(xs []uint64) {
	a := t.fast.Load()
	set := int64(0)
	for _, x := range xs {
		tree, branch := t.treeOf(x)
		if tree.take(branch, x>>t.slow.sizeBits) {
			set += a.clear(x & a.mask)
		}
	}
	t.set.Add(-set)
	t.prints.Add(-int64(len(xs)))
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
			t.prints.Add(-1)
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
			t.set.Add(-a.clear(firstBit + e.branch))
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
				t.set.Add(a.set(t.slow.firstBit(segment, group) + branch))
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
	return float64(t.prints.Load()) / (slots * float64(t.slow.slots))
}

// fastBits returns the memory of so many bits.
func fastBits(size uint64) uint64 { return 64 * bitvec.WordsFor(size) }
