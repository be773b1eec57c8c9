package partition

import (
	"encoding/binary"
	"math/bits"

	"github.com/everbloom-go/everbloom/internal/probe"
)

// offsets holds the ids of one leaf of the tree, which are those of all populated
// units below it, in ascending order. The upper bits that all of them share are
// stored once; the lower ones, span of them, as one number for each id or, where
// that takes less, as a bitmap of all numbers:
//
//	span 23, 5 ids     base | 3 bytes | 3 bytes | 3 bytes | 3 bytes | 3 bytes | pad
//	span 11, 900 ids   base | 2048 bits                                        | pad
//	span 0, 1 id       base
//
// The form and the room follow from the ids alone, not from the order in which
// they came. The zero value has no ids.
type offsets struct {
	base  uint64
	data  []byte
	count uint32
	span  uint8
	dense bool // a bitmap
}

const (
	pad     = 8  // bytes behind the numbers, so that 8 can be read anywhere
	maxSpan = 24 // of a bitmap
)

// width returns the bytes of each number.
func width(span uint8) int { return (int(span) + 7) / 8 }

// isDense reports whether a bitmap is the smaller form.
func isDense(span uint8, count int) bool {
	return span <= maxSpan && 1<<span <= 8*width(span)*count
}

// roomFor returns the bytes of data for so many ids.
func roomFor(span uint8, count int) int {
	used := width(span) * count
	if isDense(span, count) {
		used = (1<<span + 7) / 8
	}
	if used == 0 {
		return 0
	}
	return roundBytes(used + pad)
}

// roundUp returns the next of eight steps in each doubling: growth by one at a time
// then copies little and wastes an eighth at most.
func roundUp(n int) int {
	if n <= 16 {
		return n
	}
	return multiple(n, 1<<(bits.Len(uint(n-1))-4))
}

// roundBytes is roundUp for blocks of their own. Small ones take four steps, so
// that there are fewer to make.
func roundBytes(n int) int {
	if n <= 32 {
		return multiple(n, 8)
	}
	eighth := 1 << (bits.Len(uint(n-1)) - 4)
	return multiple(n, max(eighth, min(512, 2*eighth)))
}

// multiple returns the next multiple of step, a power of two.
func multiple(n, step int) int { return (n + step - 1) &^ (step - 1) }

// extend returns s with length n, in a block that has room for roundUp(n).
func extend[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]T, n, roundUp(n))
	copy(grown, s)
	return grown
}

// pack returns the offsets of ids, which are ascending and at least one.
func pack(ids []uint64) offsets {
	span := uint8(bits.Len64(ids[0] ^ ids[len(ids)-1]))
	o := offsets{base: ids[0] &^ (1<<span - 1), count: uint32(len(ids)), span: span, dense: isDense(span, len(ids))}
	if n := roomFor(span, len(ids)); n > 0 {
		o.data = make([]byte, n)
	}
	if o.dense {
		for _, id := range ids {
			o.setBit(id - o.base)
		}
		return o
	}
	w := width(span)
	if w == 0 {
		return o
	}
	for i, id := range ids {
		binary.LittleEndian.PutUint64(o.data[i*w:], id-o.base) // the next one overwrites what is beyond w
	}
	return o
}

func (o *offsets) setBit(x uint64) { o.data[x/8] |= 1 << (x % 8) }

// number returns the i-th number of width w, of which mask has the bits.
func (o *offsets) number(i, w int, mask uint64) uint64 {
	return binary.LittleEndian.Uint64(o.data[i*w:]) & mask
}

// mask has the bits of a number of width w, 1 to 8.
func mask(w int) uint64 { return ^uint64(0) >> (64 - 8*uint(w)) }

// search returns the place of id among the numbers, and whether it is there. For a
// bitmap, or an id that does not fit, the place means nothing.
func (o *offsets) search(id uint64) (place int, found bool) {
	x := id ^ o.base
	switch {
	case o.count == 0 || x>>o.span != 0:
		return 0, false
	case o.dense:
		return 0, o.data[x/8]>>(x%8)&1 != 0
	case o.span == 0:
		return 0, true
	}
	w := width(o.span)
	m := mask(w)
	low, high := o.around(x, w, m)
	for low < high {
		middle := (low + high) / 2
		if o.number(middle, w, m) < x {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < int(o.count) && o.number(low, w, m) == x
}

// near is how far from its expected place a number is looked for first: three
// standard deviations for 1800 ids that are spread evenly.
const near = 64

// around returns between which places x belongs. Ids that are spread evenly are
// where their size says, and the search then stays within a few cache lines.
func (o *offsets) around(x uint64, w int, mask uint64) (low, high int) {
	n := int(o.count)
	guess := int(probe.Reduce(x<<(64-o.span), uint64(n)))
	low, high = max(0, guess-near), min(n, guess+near)
	if low > 0 && o.number(low-1, w, mask) >= x {
		return 0, low
	}
	if high < n && o.number(high, w, mask) < x {
		return high, n
	}
	return low, high
}

// insert adds id, which is not there and whose place search has told.
func (o *offsets) insert(id uint64, place int) {
	span := max(o.span, uint8(bits.Len64(id^o.base)))
	n := int(o.count) + 1
	if o.count == 0 || span != o.span || isDense(span, n) != o.dense {
		o.repack(id)
		return
	}
	o.count++
	if o.dense {
		o.setBit(id - o.base)
		return
	}
	w := width(span)
	if room := roomFor(span, n); room > len(o.data) {
		grown := make([]byte, room)
		copy(grown, o.data)
		o.data = grown
	}
	at := o.data[place*w:]
	copy(at[w:], at[:(n-1-place)*w])
	rest := binary.LittleEndian.Uint64(at) &^ mask(w)
	binary.LittleEndian.PutUint64(at, rest|(id-o.base))
}

// repack adds id and changes the form.
func (o *offsets) repack(id uint64) {
	list := takeList()
	list.ids = o.appendWith(list.ids, id)
	*o = pack(list.ids)
	list.release()
}

// appendWith appends the ids and one more, which is not among them, in ascending
// order.
func (o *offsets) appendWith(dst []uint64, id uint64) []uint64 {
	from := len(dst)
	dst = append(o.appendTo(dst), id)
	for i := len(dst) - 1; i > from && dst[i-1] > id; i-- {
		dst[i], dst[i-1] = dst[i-1], id
	}
	return dst
}

// appendTo appends the ids in ascending order.
func (o *offsets) appendTo(dst []uint64) []uint64 {
	switch {
	case o.count == 0:
		return dst
	case o.dense:
		return o.appendBits(dst)
	case o.span == 0:
		return append(dst, o.base)
	}
	w := width(o.span)
	m := mask(w)
	for i := range int(o.count) {
		dst = append(dst, o.base|o.number(i, w, m))
	}
	return dst
}

func (o *offsets) appendBits(dst []uint64) []uint64 {
	for i, b := range o.data[:len(o.data)-pad] {
		for ; b != 0; b &= b - 1 {
			dst = append(dst, o.base+uint64(8*i+bits.TrailingZeros8(b)))
		}
	}
	return dst
}
