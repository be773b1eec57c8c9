package elastic

import (
	"math"
	"math/bits"
)

// A layout says where in the slow memory things are. All is in bits, without gaps. A
// tree has two parts. Few buckets have more than two or three fingerprints, so most of
// what is used is in the fronts, which follow each other and are small:
//
//	front: unused bit | number of fingerprints of each bucket | number of entries of level 2
//	       the first fingerprint of each branch | the second of each ...
//	back:  other fingerprints of each branch, one of each after the other
//	       level 2, if b > 1: D entries: fingerprint | branch
//
// A block has the fronts of its trees and then their backs, segment by segment. A segment
// is as many buckets as the initial size has bits. Trees never span segments: then those
// of the lower and the upper half of a grown filter have the same buckets, whatever b is.
// The unused bit was a sign once. Files state the size of slow memory, which has to stay.
type layout struct {
	slots     uint64 // D
	branches  uint64 // b
	width     uint64 // of a fingerprint
	counter   uint64 // width of a number of fingerprints
	entry     uint64 // width of an entry of level 2
	step      uint64 // from a fingerprint of a branch to its next
	head      uint64 // size of the numbers, at most 63
	front     uint64 // fingerprints of a branch that are in the front
	upper     uint64 // where level 2 begins in a back
	frontBits uint64 // size of a front
	backBits  uint64 // size of a back
	segment   uint64 // trees in a segment
	runs      uint64 // of trees in a segment, the last one may be short
	sizeBits  uint64 // log2 of the buckets in a segment
	inverse   uint64 // 2^64/b, rounded up, for a division; unused if b is 1
}

func newLayout(s Shape) layout {
	l := layout{slots: uint64(s.Slots), branches: uint64(s.Branches), width: uint64(s.printBits()), sizeBits: uint64(s.sizeBits())}
	l.step = l.branches * l.width
	l.counter = uint64(bits.Len64(l.slots))
	l.entry = l.width + uint64(bits.Len64(l.branches-1))
	l.head = 1 + l.branches*l.counter
	l.segment = (s.Bits + l.branches - 1) / l.branches
	l.runs = (l.segment + runTrees - 1) / runTrees
	l.front = min(s.frontSlots(), l.slots)
	l.upper = (l.slots - l.front) * l.step
	l.backBits = l.upper
	if l.branches > 1 {
		l.head += l.counter
		l.inverse = ^uint64(0)/l.branches + 1
		l.backBits += l.slots * l.entry
	}
	l.frontBits = l.head + l.front*l.step
	return l
}

// frontSlots returns how many fingerprints of a bucket are in the front: as many as leave
// the front of few buckets full when the share of set bits is the threshold.
func (s Shape) frontSlots() uint64 {
	const few = 0.04
	load := min(s.load(), maxSlots)
	exactly := math.Exp(-load) // odds of n fingerprints in a bucket
	more := 1 - exactly
	n := uint64(1)
	for ; more > few && n < maxSlots; n++ {
		exactly *= load / float64(n)
		more -= exactly
	}
	return n
}

// words returns the number of words that the trees take after e doublings. Every
// doubling adds a block of as many trees as there were.
func (l *layout) words(e int) (n uint64) {
	for j := range e + 1 {
		n += l.blockWords(j)
	}
	return n
}

// blockWords returns the size of block j: the first segment, or those that the j-th
// doubling adds.
func (l *layout) blockWords(j int) uint64 {
	hi, lo := bits.Mul64(l.blockTrees(j), l.frontBits+l.backBits)
	if hi != 0 || lo > ^uint64(0)-63 {
		return 1 << 58 // more than any allocator has
	}
	return (lo + 63) / 64
}

// blockTrees returns the number of trees in block j.
func (l *layout) blockTrees(j int) uint64 { return l.segment << max(0, j-1) }

// locate returns the block of a tree of a segment, and where in it the tree's front and
// back begin.
func (l *layout) locate(segment, group uint64) (block int, front, back uint64) {
	block = bits.Len64(segment)
	if block > 0 {
		segment -= 1 << (block - 1)
	}
	n := segment*l.segment + group
	return block, n * l.frontBits, l.blockTrees(block)*l.frontBits + n*l.backBits
}

// group returns the tree of a segment that bucket i of the segment is in, and which of
// its branches it is.
func (l *layout) group(i uint64) (tree, branch uint64) {
	if l.branches == 1 {
		return i, 0
	}
	tree, _ = bits.Mul64(i, l.inverse) // exact for i < 2^60
	return tree, i - tree*l.branches
}

// branchesOf returns how many buckets a tree has: the last of a segment may have fewer
// than others.
func (l *layout) branchesOf(group uint64) uint64 {
	return min(l.branches, 1<<l.sizeBits-group*l.branches)
}

// countWidth returns the width of a bucket's count in files.
func (l *layout) countWidth() uint64 {
	most := l.slots
	if l.branches > 1 {
		most *= 2
	}
	return uint64(bits.Len64(most))
}

// fits reports whether one tree can hold the entries.
func (l *layout) fits(entries []entry) bool {
	var load [maxBranches]uint64
	spilled := uint64(0)
	for _, e := range entries {
		if load[e.branch]++; load[e.branch] > l.slots {
			spilled++
		}
	}
	return spilled == 0 || l.branches > 1 && spilled <= l.slots
}
