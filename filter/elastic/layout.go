package elastic

import "math/bits"

// A layout says where in the slow memory things are. All is in bits, without
// gaps; a tree is
//
//	head: sign | number of fingerprints of each bucket | number of entries of level 2
//	buckets, D times: a fingerprint of each branch
//	level 2, if b > 1: D entries: fingerprint | branch
//
// so that the first fingerprints of all branches, and few have more, are near the
// head, in the same line of the cache. The trees of one segment, which is as many buckets as the initial size has
// bits, follow each other. Trees never span segments: then those of the lower and
// the upper half of a grown filter have the same members, whatever b is.
type layout struct {
	slots    uint64 // D
	branches uint64 // b
	width    uint64 // of a fingerprint
	counter  uint64 // width of a number of fingerprints
	entry    uint64 // width of an entry of level 2
	step     uint64 // from a fingerprint of a branch to its next
	head     uint64 // size of a head, at most 63
	upper    uint64 // where level 2 begins in a tree
	treeBits uint64 // size of a tree
	segment  uint64 // trees in a segment
	inverse  uint64 // 2^64/b, rounded up, for a division; unused if b is 1
}

func newLayout(s Shape) layout {
	l := layout{slots: uint64(s.Slots), branches: uint64(s.Branches), width: uint64(s.printBits())}
	l.step = l.branches * l.width
	l.counter = uint64(bits.Len64(l.slots))
	l.entry = l.width + uint64(bits.Len64(l.branches-1))
	l.head = 1 + l.branches*l.counter
	if l.branches > 1 {
		l.head += l.counter
		l.inverse = ^uint64(0)/l.branches + 1
	}
	l.upper = l.head + l.branches*l.slots*l.width
	l.treeBits = l.upper
	if l.branches > 1 {
		l.treeBits += l.slots * l.entry
	}
	l.segment = (s.Bits + l.branches - 1) / l.branches
	return l
}

// words returns the number of words that the trees take after e doublings. Every
// doubling adds a block of as many trees as there were.
func (l layout) words(e int) uint64 {
	n := l.blockWords(0)
	for j := 1; j <= e; j++ {
		n += l.blockWords(j)
	}
	return n
}

// blockWords returns the size of block j: the first segment, or those that the
// j-th doubling adds.
func (l layout) blockWords(j int) uint64 {
	segments := uint64(1) << max(0, j-1)
	hi, lo := bits.Mul64(segments*l.segment, l.treeBits)
	if hi != 0 || lo > ^uint64(0)-63 {
		return 1 << 58 // more than any allocator has
	}
	return (lo + 63) / 64
}

// group returns the tree of a segment that bucket i of the segment is in, and
// which of its branches it is.
func (l *layout) group(i uint64) (tree, branch uint64) {
	if l.branches == 1 {
		return i, 0
	}
	tree, _ = bits.Mul64(i, l.inverse) // exact for i < 2^60
	return tree, i - tree*l.branches
}

// A bucket is a list of numbers of one width, at most as many as slots, and their
// count elsewhere.
type bucket struct {
	words   []uint64
	count   uint64 // where the count is
	counter uint64 // its width
	at      uint64 // where the first number is
	width   uint64
	step    uint64 // from one number to the next
}

func (b bucket) len() uint64 { return get(b.words, b.count, b.counter) }

func (b bucket) setLen(n uint64) { put(b.words, b.count, b.counter, n) }

func (b bucket) get(i uint64) uint64 { return get(b.words, b.at+i*b.step, b.width) }

func (b bucket) put(i, v uint64) { put(b.words, b.at+i*b.step, b.width, v) }

// push appends v, which must find room.
func (b bucket) push(v uint64) {
	n := b.len()
	b.put(n, v)
	b.setLen(n + 1)
}

// drop takes out the i-th of the list; the last takes its place.
func (b bucket) drop(i uint64) {
	n := b.len() - 1
	b.put(i, b.get(n))
	b.setLen(n)
}

// find returns the place of v.
func (b bucket) find(v uint64) (i uint64, ok bool) {
	for i = range b.len() {
		if b.get(i) == v {
			return i, true
		}
	}
	return 0, false
}

// copies returns how often v is in the list.
func (b bucket) copies(v uint64) (n int) {
	for i := range b.len() {
		if b.get(i) == v {
			n++
		}
	}
	return n
}

// get returns the number of the given width, at most 63 bits, that begins at bit
// at.
func get(words []uint64, at, width uint64) uint64 {
	i, off := at/64, at%64
	v := words[i] >> off
	if off+width > 64 {
		v |= words[i+1] << (64 - off)
	}
	return v & (1<<width - 1)
}

// put makes v, which must not be wider, the number that begins at bit at.
func put(words []uint64, at, width, v uint64) {
	i, off := at/64, at%64
	mask := uint64(1)<<width - 1
	words[i] = words[i]&^(mask<<off) | v<<off
	if off+width > 64 {
		words[i+1] = words[i+1]&^(mask>>(64-off)) | v>>(64-off)
	}
}
