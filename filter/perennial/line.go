package perennial

import (
	"math/bits"

	"github.com/everbloom-go/everbloom/internal/bitvec"
)

// A line is a cache line of consecutive buckets:
//
//	bits 0..8    in: how many of its buckets lie before its nominal first one
//	bits 9..15   nb: how many buckets it holds
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
	lo, hi = lo+n, hi+n
	q, o := n>>6, n&63
	for i := (hi - 1) >> 6; i+1 > lo>>6; i-- {
		v := l[(i-q)&7] << o
		if i > q {
			v |= l[(i-q-1)&7] >> 1 >> (63 - o)
		}
		mask := within(i, lo, hi)
		l[i&7] = l[i&7]&^mask | v&mask
	}
}

// moveDown moves the bits from lo to below hi by n towards the beginning.
func (l *line) moveDown(lo, hi, n uint) {
	if lo >= hi {
		return
	}
	lo, hi = lo-n, hi-n
	for i := lo >> 6; i <= (hi-1)>>6; i++ {
		mask := within(i, lo, hi)
		l[i&7] = l[i&7]&^mask | l.window(i<<6+n)&mask // up to hi+n only, which is in the line
	}
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

// slots returns how many slots the line has.
func (l *line) slots() uint {
	held := l.held()
	return l.end(held) - headBits - uint(held)
}

// used returns how many bits of a line of so many buckets and slots are taken.
func used(held int, slots, w uint) uint { return headBits + uint(held) + slots*(w+1) }

// insert makes v slot at of bucket idx. There is room.
func (l *line) insert(idx int, at, w uint, v uint64) {
	n, held := l.slots(), l.held()
	first, _ := l.find(idx)
	p := headBits + uint(idx) + first
	l.moveUp(p, headBits+uint(held)+n, 1)
	l.setBits(p, 1, 1)
	high := lineBits - (first+at)*w
	l.moveDown(lineBits-n*w, high, w)
	l.setBits(high-w, w, v)
}

// remove takes slot at of bucket idx out.
func (l *line) remove(idx int, at, w uint) {
	n, held := l.slots(), l.held()
	first, _ := l.find(idx)
	p, end := headBits+uint(idx)+first, headBits+uint(held)+n
	l.moveDown(p+1, end, 1)
	l.setBits(end-1, 1, 0)
	low := lineBits - n*w
	l.moveUp(low, lineBits-(first+at+1)*w, w)
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

// pushTail moves the last k buckets of l, with count slots, to the front of next, which
// has room for them.
func (l *line) pushTail(next *line, k int, count, w uint) {
	held, n := l.held(), l.slots()
	end := headBits + uint(held) + n
	other, m := next.held(), next.slots()
	size := uint(k) + count // in the map
	next.moveUp(headBits, headBits+uint(other)+m, size)
	next.moveDown(lineBits-m*w, lineBits, count*w)
	next.copyBits(headBits, l, end-size, size)
	next.copyBits(lineBits-count*w, l, lineBits-n*w, count*w)
	next.setHead(next.in()+k, other+k)
	l.clear(end-size, end)
	l.clear(lineBits-n*w, lineBits-(n-count)*w)
	l.setHead(l.in(), held-k)
}

// pullHead moves the first k buckets of next, with count slots, to the end of l, which has
// room for them.
func (l *line) pullHead(next *line, k int, count, w uint) {
	held, n := l.held(), l.slots()
	end := headBits + uint(held) + n
	other, m := next.held(), next.slots()
	size := uint(k) + count // in the map
	l.copyBits(end, next, headBits, size)
	l.copyBits(lineBits-(n+count)*w, next, lineBits-count*w, count*w)
	l.setHead(l.in(), held+k)
	last := headBits + uint(other) + m
	next.moveDown(headBits+size, last, size)
	next.clear(last-size, last)
	next.moveUp(lineBits-m*w, lineBits-count*w, count*w)
	next.clear(lineBits-m*w, lineBits-(m-count)*w)
	next.setHead(next.in()-k, other-k)
}
