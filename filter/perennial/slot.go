package perennial

import (
	"cmp"
	"math/bits"
	"slices"
)

// A slot of w bits is a fingerprint of up to w-1 bits, then a 1, then zeros. What does
// not fit one slot begins with a slot of 0:
//
//	0, d                   a void of depth d: its bits ran out d splits ago; it fits every key
//	0, 2^(w-1)+c, v        a fingerprint that is there c times
//	0, 2^(w-1)+c, 0, d     a void that is there c times
//
// An entry is decoded from these. Slots of a bucket are in the order of compare, equal
// ones joined as soon as that takes fewer slots. An entry that is there maxCount times
// stays for good: how often it really is there was not counted.
type entry struct {
	v     uint64 // 0 for a void
	depth uint64 // of a void
	count uint64
}

// fits reports whether slot v, not 0, is a prefix of y, the next bits of a key and a 1.
func fits(v, y uint64) bool { return v^y < (v&-v)<<1 }

// A coder knows the width of slots.
type coder struct{ w uint }

func (c coder) flag() uint64     { return 1 << (c.w - 1) }
func (c coder) maxCount() uint64 { return c.flag() - 1 }

// weight returns which part of its bucket an entry covers, however often it is there, in units
// of 2^-(w-1).
func (c coder) weight(e entry) uint64 {
	if e.v == 0 {
		return c.flag()
	}
	return e.v & -e.v
}

// order is the place of entries in their bucket: long ones first, voids last, the deepest
// at the end.
func order(a, b entry) int {
	return cmp.Or(cmp.Compare(lowest(a.v), lowest(b.v)), cmp.Compare(a.v, b.v), cmp.Compare(a.depth, b.depth))
}

// compareSlots is order for fingerprints.
func compareSlots(a, b uint64) int {
	if la, lb := a&-a, b&-b; la != lb {
		return cmp.Compare(la, lb)
	}
	return cmp.Compare(a, b)
}

// lowest is the weight of one v, more than any for a void.
func lowest(v uint64) uint64 {
	if v == 0 {
		return 1 << 63
	}
	return v & -v
}

// decode appends the entries that the slots hold, one for each value.
func (c coder) decode(slots []uint64, to []entry) []entry {
	for i := 0; i < len(slots); {
		e := entry{v: slots[i], count: 1}
		i++
		if e.v == 0 && i < len(slots) {
			if slots[i]&c.flag() != 0 {
				e.count = slots[i] &^ c.flag()
				i++
				if i < len(slots) {
					e.v = slots[i]
					i++
				}
			}
			if e.v == 0 && i < len(slots) {
				e.depth = slots[i]
				i++
			}
		}
		if n := len(to); n > 0 && to[n-1].v == e.v && to[n-1].depth == e.depth {
			to[n-1].count += e.count
		} else {
			to = append(to, e)
		}
	}
	return to
}

// encode appends the slots of the entries, which are in order and different.
func (c coder) encode(entries []entry, to []uint64) []uint64 {
	for _, e := range entries {
		single, several := uint64(1), uint64(3)
		if e.v == 0 {
			single, several = 2, 4
		}
		if e.count*single > several {
			to = append(to, 0, c.flag()|min(e.count, c.maxCount()))
			e.count = 1
		}
		for range e.count {
			to = append(to, e.v)
			if e.v == 0 {
				to = append(to, e.depth)
			}
		}
	}
	return to
}

// join puts entries into order and makes equal ones one.
func (c coder) join(entries []entry) []entry {
	slices.SortFunc(entries, order)
	out := entries[:0]
	for _, e := range entries {
		if n := len(out); n > 0 && out[n-1].v == e.v && out[n-1].depth == e.depth {
			out[n-1].count = min(out[n-1].count+e.count, c.maxCount())
		} else {
			out = append(out, e)
		}
	}
	return out
}

// split distributes the entries of a bucket to its two halves, by their first bit.
func (c coder) split(entries []entry, low, high []entry) (lows, highs []entry) {
	for _, e := range entries {
		switch {
		case e.v == 0:
			e.depth++
			low, high = append(low, e), append(high, e)
		case e.v == c.flag(): // no bits
			e.v, e.depth = 0, 1
			low, high = append(low, e), append(high, e)
		case e.v&c.flag() == 0:
			e.v <<= 1
			low = append(low, e)
		default:
			e.v = e.v << 1 & (c.flag()<<1 - 1)
			high = append(high, e)
		}
	}
	return c.join(low), c.join(high)
}

// merge is the inverse of split. A fingerprint of w-1 bits loses its last one. Of a void both
// halves have a copy.
func (c coder) merge(low, high, to []entry) []entry {
	for _, e := range low {
		if e.v != 0 {
			to = append(to, entry{v: e.v>>1 | e.v&1, count: e.count})
		}
	}
	for _, e := range high {
		if e.v != 0 {
			to = append(to, entry{v: c.flag() | e.v>>1 | e.v&1, count: e.count})
		}
	}
	for _, e := range low {
		if e.v == 0 {
			to = append(to, c.raise(e))
		}
	}
	return c.join(to)
}

// raise makes a void one of the bucket above.
func (c coder) raise(e entry) entry {
	if e.depth == 1 {
		return entry{v: c.flag(), count: e.count}
	}
	e.depth--
	return e
}

func voids(entries []entry, depth uint64) uint64 {
	for _, e := range entries {
		if e.v == 0 && e.depth == depth {
			return e.count
		}
	}
	return 0
}

// lengthOf returns how many bits of a key slot v, not 0, has.
func (c coder) lengthOf(v uint64) uint { return c.w - 1 - uint(bits.TrailingZeros64(v)) }

// entryOf returns the slot for the first n bits of x.
func (c coder) entryOf(x uint64, n uint) uint64 {
	marker := uint64(1) << (c.w - 1 - n)
	return x>>(64-c.w)&^(marker<<1-1) | marker
}
