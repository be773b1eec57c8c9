package dleft

import (
	"math/bits"
	"unsafe"

	"github.com/everbloom-go/everbloom/internal/packed"
)

// A table is all cells of a filter, without gaps: cell c is the bits
// [c·width, (c+1)·width) of the words, bucket g the cells from g·perBucket on.
//
// A cell is its remainder in the low bits and its counter above. Buckets are
// compared window by window: 64 bits that begin with a cell, of which the first
// lanes are whole cells. In a window the bit above the remainder is the lane's
// flag. It belongs to the counter, is masked away before remainders are compared,
// and therefore takes up the carry of its lane: no lane disturbs another.
type table struct {
	words     []uint64
	perBucket uint64
	width     uint64 // bits of a cell
	remainder uint64 // bits of it
	mask      uint64 // the remainder of a cell
	lanes     uint64 // of a window
	windows   uint64 // of a bucket
	ones      uint64 // the lowest bit of every lane
	low       uint64 // the remainder of every lane
	flags     uint64 // the bit above the remainder of every lane
	tail      uint64 // the same of those lanes that a bucket has in its last window

	// twins are the buckets, if each is two words of four cells: they need neither
	// shifts nor loops and lie in one cache line. Otherwise there are none.
	twins [][2]uint64
}

func newTable(s Shape, words []uint64) table {
	t := table{
		words: words, perBucket: uint64(s.Cells),
		width: uint64(s.width()), remainder: uint64(s.Remainder), mask: 1<<s.Remainder - 1,
		lanes: 64 / uint64(s.width()),
	}
	t.windows = (t.perBucket + t.lanes - 1) / t.lanes
	for lane := range t.lanes {
		t.ones |= 1 << (lane * t.width)
	}
	t.flags = t.ones << t.remainder
	t.low = t.flags - t.ones
	t.tail = t.flags & (1<<((t.perBucket-(t.windows-1)*t.lanes)*t.width) - 1)
	if s.width() == 16 && s.Cells == 8 {
		t.twins = unsafe.Slice((*[2]uint64)(unsafe.Pointer(&words[0])), len(words)/2)
	}
	return t
}

// spread puts a remainder into every lane.
func (t *table) spread(remainder uint64) uint64 { return remainder * t.ones }

// equal returns the flags of the lanes of x whose remainder is that of every
// lane of y.
func (t *table) equal(x, y uint64) uint64 {
	return ^((x^y)&t.low + t.low) & t.flags
}

// match returns the flags of the cells of window w of the bucket that begins with
// cell first, whose remainder is that of every lane of y. Where a window would go
// beyond the last word it has other bits, which belong to no cell of the bucket.
func (t *table) match(first, w, y uint64) uint64 {
	at := (first + w*t.lanes) * t.width
	i, shift := at/64, at%64
	next := min(i+1, uint64(len(t.words))-1)
	x := t.words[i]>>shift | t.words[next]<<1<<(63-shift)
	flags := t.flags
	if w == t.windows-1 {
		flags = t.tail
	}
	return ^((x^y)&t.low + t.low) & flags
}

// find returns the first cell of bucket g with the given remainder. 0 finds the
// first empty cell.
func (t *table) find(g, remainder uint64) (cell uint64, ok bool) {
	y := t.spread(remainder)
	first := g * t.perBucket
	if t.twins != nil {
		lane, ok := firstOf(t.equal(t.twins[g][0], y), t.equal(t.twins[g][1], y))
		return first + lane, ok
	}
	for w := range t.windows {
		if hit := t.match(first, w, y); hit != 0 {
			return first + w*t.lanes + uint64(bits.TrailingZeros64(hit))/t.width, true
		}
	}
	return 0, false
}

// firstOf returns the lane of the first flag in a twin bucket. Which word it is in
// cannot be guessed, so the choice is written as one that needs no branch.
func firstOf(a, b uint64) (lane uint64, ok bool) {
	at := bits.TrailingZeros64(a)
	if a == 0 {
		at = 64 + bits.TrailingZeros64(b)
	}
	return uint64(at) / 16, a|b != 0
}

// load returns the number of used cells in bucket g.
func (t *table) load(g uint64) uint64 { return t.perBucket - uint64(t.countOf(g, 0)) }

// countOf returns the number of cells in bucket g with the given remainder.
func (t *table) countOf(g, remainder uint64) (n int) {
	y := t.spread(remainder)
	if t.twins != nil {
		// The flags of one word beside those of the other: one count for both.
		return bits.OnesCount64(t.equal(t.twins[g][0], y) | t.equal(t.twins[g][1], y)>>1)
	}
	for w := range t.windows {
		n += bits.OnesCount64(t.match(g*t.perBucket, w, y))
	}
	return n
}

// get returns the remainder of cell c, 0 if it is empty, and its counter.
func (t *table) get(c uint64) (remainder, counter uint64) {
	v := packed.Bits(t.words, c*t.width, t.width)
	return v & t.mask, v >> t.remainder
}

// set fills cell c.
func (t *table) set(c, remainder, counter uint64) {
	packed.SetBits(t.words, c*t.width, t.width, counter<<t.remainder|remainder)
}
