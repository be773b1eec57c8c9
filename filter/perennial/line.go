package perennial

import (
	"math/bits"

	"github.com/everbloom-go/everbloom/internal/bitvec"
)

// A line is a cache line of consecutive buckets:
//
//	bits 0..8    in: how many of its buckets lie before its nominal first one
//	bits 9..15   held: how many buckets it holds
//	bits 16..    for each bucket a 1 per slot, then a 0
//	...          zeros
//	to bit 511   the slots of w bits, the first one highest
type line [lineWords]uint64

const (
	lineWords = 8
	lineBits  = 64 * lineWords
	headBits  = 16
	maxIn     = 1<<9 - 1
	maxHeld   = 1<<7 - 1
)

// word returns a word that another goroutine may be changing.
func (l *line) word(i uint) uint64 { return bitvec.Load(&l[i&(lineWords-1)]) }

func (l *line) in() int   { return int(l.word(0) & maxIn) }
func (l *line) held() int { return int(l.word(0) >> 9 & maxHeld) }

func (l *line) setHead(in, held int) { l[0] = l[0]>>headBits<<headBits | uint64(held<<9|in) }

// bits returns n bits from position p on, 1 <= n <= 64.
func (l *line) bits(p, n uint) uint64 { return l.window(p) << (64 - n) >> (64 - n) }

// setBits replaces n bits from position p on.
func (l *line) setBits(p, n uint, v uint64) {
	i, o := p>>6, p&63
	mask := ^uint64(0) >> (64 - n)
	l[i&7] = l[i&7]&^(mask<<o) | v<<o
	if o+n > 64 {
		j := (i + 1) & 7
		l[j] = l[j]&^(mask>>(64-o)) | v>>(64-o)
	}
}

// window returns the 64 bits from position p on; those of them that lie beyond the line mean
// nothing. Whether they are of one word cannot be guessed, hence no branch.
func (l *line) window(p uint) uint64 {
	i, o := p>>6, p&63
	return l.word(i)>>o | l.word(i+1)<<1<<(63-o)
}

// within returns the bits of word i that lie from lo to below hi.
func within(i, lo, hi uint) uint64 {
	mask := ^uint64(0)
	if base := i << 6; lo > base {
		mask <<= lo - base
	}
	if top := (i + 1) << 6; hi < top {
		mask = mask << (top - hi) >> (top - hi)
	}
	return mask
}

// moveUp moves the bits from lo to below hi by n towards the end.
func (l *line) moveUp(lo, hi, n uint) {
	if lo >= hi {
		return
	}
	first, last := (lo+n)>>6, (hi+n-1)>>6
	before, behind := l[first&7], l[last&7]
	q, o := n>>6, n&63
	for i := last; i > first; i-- {
		l[i&7] = l[(i-q)&7]<<o | l[(i-q-1)&7]>>1>>(63-o)
	}
	l[first&7] = l[(first-q)&7] << o
	if first > q {
		l[first&7] |= l[(first-q-1)&7] >> 1 >> (63 - o)
	}
	l.restore(lo+n, hi+n, before, behind)
}

// moveDown moves the bits from lo to below hi by n towards the beginning.
func (l *line) moveDown(lo, hi, n uint) {
	if lo >= hi {
		return
	}
	first, last := (lo-n)>>6, (hi-n-1)>>6
	before, behind := l[first&7], l[last&7]
	q, o := n>>6, n&63
	for i := first; i <= last; i++ {
		l[i&7] = l[(i+q)&7]>>o | l[(i+q+1)&7]<<1<<(63-o) // from beyond the line come bits that are not kept
	}
	l.restore(lo-n, hi-n, before, behind)
}

// restore gives the bits around lo to below hi the values that they had in the words of lo
// and hi-1.
func (l *line) restore(lo, hi uint, before, behind uint64) {
	keep := ^uint64(0) << (lo & 63)
	l[lo>>6&7] = l[lo>>6&7]&keep | before&^keep
	keep = ^uint64(0) >> (-hi & 63)
	l[(hi-1)>>6&7] = l[(hi-1)>>6&7]&keep | behind&^keep
}

// clear makes the bits from lo to below hi 0.
func (l *line) clear(lo, hi uint) {
	for i := lo >> 6; i<<6 < hi; i++ {
		l[i&7] &^= within(i, lo, hi)
	}
}

// end returns the position behind the first n buckets of the map. It is in one of the first
// two words as a rule; in which of them cannot be guessed, hence no branch.
func (l *line) end(n int) uint {
	if n == 0 {
		return headBits
	}
	k := uint64(n - 1)
	zeros, second := ^l.word(0)>>headBits<<headBits, ^l.word(1)
	c := uint64(bits.OnesCount64(zeros))
	behind := uint64(int64(c-1-k) >> 63) // all ones if it is in the second
	k -= c & behind
	zeros = zeros&^behind | second&behind
	if k < uint64(bits.OnesCount64(zeros)) {
		return uint(64&behind) + selectOne(zeros, uint(k)) + 1
	}
	return l.endFar(uint(k) - uint(bits.OnesCount64(zeros)))
}

// endFar returns the position behind the k-th zero from the third word on.
func (l *line) endFar(k uint) uint {
	for i := uint(2); i < lineWords; i++ {
		zeros := ^l.word(i)
		c := uint(bits.OnesCount64(zeros))
		if k < c {
			return i<<6 + selectOne(zeros, k) + 1
		}
		k -= c
	}
	return lineBits
}

// selectOne returns the position of the k-th one of w, counted from 0. There is one.
func selectOne(w uint64, k uint) uint {
	const each = 0x0101010101010101
	s := w - w>>1&(0x55*each)
	s = s&(0x33*each) + s>>2&(0x33*each)
	s = (s + s>>4) & (0x0f * each) * each // how many ones there are up to the end of each byte
	at := uint(bits.OnesCount64(((uint64(k)*each|0x80*each)-s)&(0x80*each))) * 8
	return at + uint(selectInByte[w>>(at&63)&255][(k-uint(s<<8>>(at&63)&255))&7])
}

// selectInByte has the position of each one of each byte.
var selectInByte = func() (t [256][8]uint8) {
	for b := range t {
		k := 0
		for i := range 8 {
			if b>>i&1 != 0 {
				t[b][k] = uint8(i)
				k++
			}
		}
	}
	return t
}()

// find returns the first slot of bucket idx, of which the line holds more, and how many
// slots it has.
func (l *line) find(idx int) (first, count uint) {
	at := l.end(idx)
	first = at - headBits - uint(idx)
	return first, uint(bits.TrailingZeros64(^l.window(at)))
}

// slot returns slot i.
func (l *line) slot(i, w uint) uint64 { return l.bits(lineBits-(i+1)*w, w) }

// insert makes v slot number at of a line of extent x; the slot is the one of the map at p.
func (l *line) insert(x extent, p, at, w uint, v uint64) {
	l.moveUp(p, x.end(), 1)
	l.setBits(p, 1, 1)
	high := lineBits - at*w
	l.moveDown(lineBits-x.slots*w, high, w)
	l.setBits(high-w, w, v)
}

// remove takes slot number at out of a line of extent x; the slot is the one of the map at
// p.
func (l *line) remove(x extent, p, at, w uint) {
	l.moveDown(p+1, x.end(), 1)
	l.setBits(x.end()-1, 1, 0)
	low := lineBits - x.slots*w
	l.moveUp(low, lineBits-(at+1)*w, w)
	l.setBits(low, w, 0)
}

// copyBits copies n bits of src from position from on to position to of l.
func (l *line) copyBits(to uint, src *line, from, n uint) {
	for n > 0 {
		c := min(n, 64)
		l.setBits(to, c, src.bits(from, c))
		to, from, n = to+c, from+c, n-c
	}
}

// putBits is copyBits to bits that are 0.
func (l *line) putBits(to uint, src *line, from, n uint) {
	for n > 0 {
		c := min(n, 64)
		v := src.bits(from, c)
		i, o := to>>6, to&63
		l[i&7] |= v << o
		if o+c > 64 {
			l[(i+1)&7] |= v >> (64 - o)
		}
		to, from, n = to+c, from+c, n-c
	}
}

// pushTail moves the last buckets of l, of the given extent, to the front of next, which
// has room for them. The extents of both are x and y.
func (l *line) pushTail(next *line, x, y, tail extent, w uint) {
	size := tail.held + tail.slots // in the map
	next.moveUp(headBits, y.end(), size)
	next.moveDown(lineBits-y.slots*w, lineBits, tail.slots*w)
	next.copyBits(headBits, l, x.end()-size, size)
	next.copyBits(lineBits-tail.slots*w, l, lineBits-x.slots*w, tail.slots*w)
	next.setHead(next.in()+int(tail.held), int(y.held+tail.held))
	l.clear(x.end()-size, x.end())
	l.clear(lineBits-x.slots*w, lineBits-(x.slots-tail.slots)*w)
	l.setHead(l.in(), int(x.held-tail.held))
}

// pullHead moves the first buckets of next, of the given extent, to the end of l, which has
// room for them. The extents of both are x and y.
func (l *line) pullHead(next *line, x, y, head extent, w uint) {
	size := head.held + head.slots // in the map
	l.copyBits(x.end(), next, headBits, size)
	l.copyBits(lineBits-(x.slots+head.slots)*w, next, lineBits-head.slots*w, head.slots*w)
	l.setHead(l.in(), int(x.held+head.held))
	next.moveDown(headBits+size, y.end(), size)
	next.clear(y.end()-size, y.end())
	next.moveUp(lineBits-y.slots*w, lineBits-head.slots*w, head.slots*w)
	next.clear(lineBits-y.slots*w, lineBits-(y.slots-head.slots)*w)
	next.setHead(next.in()-int(head.held), int(y.held-head.held))
}
