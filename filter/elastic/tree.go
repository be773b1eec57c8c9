package elastic

import (
	"unsafe"

	"github.com/everbloom-go/everbloom/internal/line"
	"github.com/everbloom-go/everbloom/internal/packed"
)

// A tree is a bucket tree in the slow memory. It is small enough for registers.
type tree struct {
	*layout
	words *[]uint64 // the block
	at    uint64    // first bit of its front
	back  uint64    // and of its back
}

// An entry is a fingerprint with the branch of the tree that it belongs to.
type entry struct{ branch, fp uint64 }

// prefetch asks for the first line of the tree.
func (t tree) prefetch() { line.Prefetch(unsafe.Pointer(&(*t.words)[t.at/64])) }

// prefetchFronts asks for the fronts of n trees, of which it is the first.
func (t tree) prefetchFronts(n uint64) {
	words := (*t.words)[t.at/64 : (t.at+n*t.frontBits+63)/64]
	line.PrefetchBytes((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
}

// counts returns the numbers of fingerprints of all buckets, the first lowest.
func (t tree) counts() uint64 { return packed.Bits(*t.words, t.at, t.head) >> 1 }

// countOf returns what counts say of a bucket; that of level 2 follows the others.
func (t tree) countOf(counts, branch uint64) uint64 {
	return counts >> (branch * t.counter) & (1<<t.counter - 1)
}

// vacant reports whether a branch has no fingerprints.
func (t tree) vacant(branch uint64) bool { return t.count(branch) == 0 }

// first returns where the first fingerprint of a branch is, if it has one.
func (t tree) first(branch uint64) uint64 { return t.at + t.head + branch*t.width }

// A bucket is a list of n numbers of one width. One of level 2 keeps fingerprints in
// front of branches.
type bucket struct {
	words    []uint64
	n        uint64
	at, back uint64 // where the first number is, and the first of those in the back
	front    uint64 // numbers that are not in the back
	width    uint64
	step     uint64 // from one number to the next
}

// count returns the number of fingerprints in the level-1 bucket of a branch; that of
// level 2 follows the others. If the bucket is full there may be more of them in level 2,
// and only then: what is deleted from a full bucket is replaced from there.
func (t tree) count(branch uint64) uint64 {
	return packed.Bits(*t.words, t.at+1+branch*t.counter, t.counter)
}

func (t tree) setCount(branch, n uint64) {
	packed.SetBits(*t.words, t.at+1+branch*t.counter, t.counter, n)
}

// lower returns the level-1 bucket of a branch.
func (t tree) lower(branch uint64) bucket {
	return bucket{*t.words, t.count(branch), t.first(branch), t.back + branch*t.width, t.front, t.width, t.step}
}

// shared returns the level-2 bucket. There must be one.
func (t tree) shared() bucket {
	return bucket{*t.words, t.count(t.branches), 0, t.back + t.upper, 0, t.entry, t.entry}
}

// place returns where number i is.
func (b bucket) place(i uint64) uint64 {
	if i < b.front {
		return b.at + i*b.step
	}
	return b.back + (i-b.front)*b.step
}

func (b bucket) get(i uint64) uint64 { return packed.Bits(b.words, b.place(i), b.width) }

func (b bucket) put(i, v uint64) { packed.SetBits(b.words, b.place(i), b.width, v) }

// find returns the position of v.
func (b bucket) find(v uint64) (i uint64, ok bool) {
	for ; i < b.n; i++ {
		if b.get(i) == v {
			return i, true
		}
	}
	return 0, false
}

// copies returns how often v is in the list.
func (b bucket) copies(v uint64) (n int) {
	for i := range b.n {
		if b.get(i) == v {
			n++
		}
	}
	return n
}

// tagged returns a fingerprint as level 2 keeps it.
func (t tree) tagged(branch, fp uint64) uint64 { return fp | branch<<t.width }

// spills reports whether a branch with n fingerprints in level 1 may have some in
// level 2.
func (t tree) spills(n uint64) bool { return n == t.slots && t.branches > 1 }

// copies returns how often a branch has the fingerprint.
func (t tree) copies(branch, fp uint64) (n int) {
	b := t.lower(branch)
	n = b.copies(fp)
	if t.spills(b.n) {
		n += t.shared().copies(t.tagged(branch, fp))
	}
	return n
}

// add puts a fingerprint into its branch, or reports that the tree overflows.
func (t tree) add(branch, fp uint64) bool {
	n := t.count(branch)
	if n >= t.front {
		return t.addBack(branch, fp)
	}
	packed.SetBits(*t.words, t.first(branch)+n*t.step, t.width, fp)
	t.setCount(branch, n+1)
	return true
}

// addBack is add for a branch whose front is full.
func (t tree) addBack(branch, fp uint64) bool {
	b := t.lower(branch)
	if b.n == t.slots {
		if t.branches == 1 {
			return false
		}
		b, branch, fp = t.shared(), t.branches, t.tagged(branch, fp)
		if b.n == t.slots {
			return false
		}
	}
	b.put(b.n, fp)
	t.setCount(branch, b.n+1)
	return true
}

// take takes one copy of a fingerprint out of its branch, where it must be, and reports
// whether none is left there. If there are fingerprints of the branch in level 2 one of
// them fills the slot.
func (t tree) take(branch, fp uint64) (vacant bool) {
	b := t.lower(branch)
	if i, ok := b.find(fp); ok {
		if t.spills(b.n) && t.refill(branch, b, i) {
			return false
		}
		t.drop(b, branch, i)
		return b.n == 1
	}
	if i, ok := t.shared().find(t.tagged(branch, fp)); ok {
		t.drop(t.shared(), t.branches, i)
	}
	return false
}

// drop takes number i out of the bucket of a branch; the last one takes its place.
func (t tree) drop(b bucket, branch, i uint64) {
	if last := b.n - 1; i != last {
		b.put(i, b.get(last))
	}
	t.setCount(branch, b.n-1)
}

// refill moves a fingerprint of the branch from level 2 to slot i of its bucket b, if
// there is one.
func (t tree) refill(branch uint64, b bucket, i uint64) bool {
	s := t.shared()
	for j := range s.n {
		if v := s.get(j); v>>t.width == branch {
			b.put(i, v&(1<<t.width-1))
			t.drop(s, t.branches, j)
			return true
		}
	}
	return false
}

// gather appends all fingerprints of the tree.
func (t tree) gather(to []entry) []entry {
	counts := t.counts()
	if counts == 0 {
		return to
	}
	for j := range t.branches {
		if t.countOf(counts, j) > 0 {
			b := t.lower(j)
			for i := range b.n {
				to = append(to, entry{j, b.get(i)})
			}
		}
	}
	if t.branches == 1 {
		return to
	}
	s := t.shared()
	for i := range s.n {
		v := s.get(i)
		to = append(to, entry{v >> t.width, v & (1<<t.width - 1)})
	}
	return to
}

// wipe takes all fingerprints out.
func (t tree) wipe() { packed.SetBits(*t.words, t.at+1, t.head-1, 0) }

// split moves the fingerprints of a branch that have the given bit to the same branch of
// another tree, where it is empty, and reports whether either has some then.
func (t tree) split(to tree, branch, bit uint64) (low, high bool) {
	n := t.count(branch)
	if n > t.front || t.spills(n) {
		return t.splitBack(to, branch, bit)
	}
	from := t.first(branch)
	keep, move := from, to.first(branch)
	moved := uint64(0)
	for range n {
		v := packed.Bits(*t.words, from, t.width)
		if v>>bit&1 != 0 {
			packed.SetBits(*to.words, move, t.width, v)
			move += t.step
			moved++
		} else {
			if keep != from {
				packed.SetBits(*t.words, keep, t.width, v)
			}
			keep += t.step
		}
		from += t.step
	}
	if moved > 0 {
		to.setCount(branch, moved)
		t.setCount(branch, n-moved)
	}
	return moved < n, moved > 0
}

// splitBack is split for a branch with fingerprints in the back.
func (t tree) splitBack(to tree, branch, bit uint64) (low, high bool) {
	b := t.lower(branch)
	if t.spills(b.n) {
		return t.splitFull(to, branch, bit)
	}
	moved, kept := to.lower(branch), uint64(0)
	for i := range b.n {
		v := b.get(i)
		if v>>bit&1 != 0 {
			moved.put(moved.n, v)
			moved.n++
		} else {
			b.put(kept, v)
			kept++
		}
	}
	to.setCount(branch, moved.n)
	t.setCount(branch, kept)
	return kept > 0, moved.n > 0
}

// splitFull is split for a branch that may have fingerprints in level 2.
func (t tree) splitFull(to tree, branch, bit uint64) (low, high bool) {
	var room [(maxBranches + 1) * maxSlots]entry
	for _, e := range t.gather(room[:0]) {
		if e.branch == branch && e.fp>>bit&1 != 0 {
			t.take(branch, e.fp)
			to.add(branch, e.fp) // fits: it gets a part of what fitted
		}
	}
	return !t.vacant(branch), !to.vacant(branch)
}
