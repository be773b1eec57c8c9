package elastic

import "github.com/everbloom-go/everbloom/internal/packed"

// A tree is a bucket tree in the slow memory. It is small enough for registers.
type tree struct {
	*layout
	words *[]uint64 // the block
	at    uint64    // its first bit
}

// An entry is a fingerprint with the branch of the tree that it belongs to.
type entry struct{ branch, fp uint64 }

// firstWord returns the word that the tree begins in.
func (t tree) firstWord() uint64 { return (*t.words)[t.at/64] }

// sign returns the sign bit, which turns over whenever the tree is split.
func (t tree) sign() uint64 { return t.firstWord() >> (t.at % 64) & 1 }

func (t tree) setSign(sign uint64) { packed.SetBits(*t.words, t.at, 1, sign) }

// counts returns the numbers of fingerprints of all buckets, the first lowest.
func (t tree) counts() uint64 { return packed.Bits(*t.words, t.at, t.head) >> 1 }

// countOf returns what counts say of a bucket; that of level 2 follows the others.
func (t tree) countOf(counts, branch uint64) uint64 {
	return counts >> (branch * t.counter) & (1<<t.counter - 1)
}

// vacant reports whether a branch has no fingerprints.
func (t tree) vacant(branch uint64) bool { return t.countOf(t.counts(), branch) == 0 }

// first returns where the first fingerprint of a branch is, if it has one.
func (t tree) first(branch uint64) uint64 { return t.at + t.head + branch*t.width }

// A bucket is a list of n numbers of one width. One of level 2 keeps fingerprints in
// front of branches.
type bucket struct {
	words []uint64
	n     uint64
	at    uint64 // where the first number is
	width uint64
	step  uint64 // from one number to the next
}

// count returns the number of fingerprints in the level-1 bucket of a branch; that of
// level 2 follows the others. If the bucket is full there may be more of them in level 2,
// and only then: what is deleted from a full bucket is replaced from there.
func (t tree) count(branch uint64) uint64 {
	return packed.Bits(*t.words, t.at+1+branch*t.counter, t.counter)
}

// lower returns the level-1 bucket of a branch.
func (t tree) lower(branch uint64) bucket {
	return bucket{*t.words, t.count(branch), t.first(branch), t.width, t.step}
}

// shared returns the level-2 bucket. There must be one.
func (t tree) shared() bucket {
	return bucket{*t.words, t.count(t.branches), t.at + t.upper, t.entry, t.entry}
}

func (t tree) setCount(branch, n uint64) {
	packed.SetBits(*t.words, t.at+1+branch*t.counter, t.counter, n)
}

func (b bucket) get(i uint64) uint64 { return packed.Bits(b.words, b.at+i*b.step, b.width) }

func (b bucket) put(i, v uint64) { packed.SetBits(b.words, b.at+i*b.step, b.width, v) }

// find returns the position of v.
func (b bucket) find(v uint64) (i uint64, ok bool) {
	for at := b.at; i < b.n; i++ {
		if packed.Bits(b.words, at, b.width) == v {
			return i, true
		}
		at += b.step
	}
	return 0, false
}

// copies returns how often v is in the list.
func (b bucket) copies(v uint64) (n int) {
	at := b.at
	for range b.n {
		if packed.Bits(b.words, at, b.width) == v {
			n++
		}
		at += b.step
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
	words, at, count := *t.words, t.first(branch), t.count(branch)
	for range count {
		if packed.Bits(words, at, t.width) == fp {
			n++
		}
		at += t.step
	}
	if t.spills(count) {
		n += t.shared().copies(t.tagged(branch, fp))
	}
	return n
}

// add puts a fingerprint into its branch, or reports that the tree overflows.
func (t tree) add(branch, fp uint64) bool {
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
// whether none is left there.
func (t tree) take(branch, fp uint64) (vacant bool) {
	words, at, count := *t.words, t.first(branch), t.count(branch)
	if t.spills(count) {
		t.takeFull(branch, fp)
		return t.vacant(branch)
	}
	last := at + (count-1)*t.step
	for range count {
		if packed.Bits(words, at, t.width) == fp {
			packed.SetBits(words, at, t.width, packed.Bits(words, last, t.width))
			t.setCount(branch, count-1)
			return count == 1
		}
		at += t.step
	}
	return false
}

// takeFull is take for a branch that may have fingerprints in level 2. A slot that
// becomes free is filled from there.
func (t tree) takeFull(branch, fp uint64) {
	b := t.lower(branch)
	if i, ok := b.find(fp); ok {
		if !t.refill(branch, b, i) {
			t.drop(b, branch, i)
		}
	} else if i, ok := t.shared().find(t.tagged(branch, fp)); ok {
		t.drop(t.shared(), t.branches, i)
	}
}

// drop takes number i out of the bucket of a branch; the last one takes its place.
func (t tree) drop(b bucket, branch, i uint64) {
	b.put(i, b.get(b.n-1))
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
		at := t.first(j)
		for range t.countOf(counts, j) {
			to = append(to, entry{j, packed.Bits(*t.words, at, t.width)})
			at += t.step
		}
	}
	if t.branches == 1 {
		return to
	}
	for i := range t.countOf(counts, t.branches) {
		v := packed.Bits(*t.words, t.at+t.upper+i*t.entry, t.entry)
		to = append(to, entry{v >> t.width, v & (1<<t.width - 1)})
	}
	return to
}

// wipe takes all fingerprints out.
func (t tree) wipe() { packed.SetBits(*t.words, t.at+1, t.head-1, 0) }
