package deletable

import "math/bits"

// A divider divides cell numbers by the size s of a region, with a multiplication
// instead of a division: every Delete needs k of them.
//
// With l the bit length of s-1, so that s <= 2^l, the multiplier is
// ⌈2^(63+l)/s⌉, and ⌊i·multiplier / 2^(63+l)⌋ = ⌊i/s⌋ for all i below 2^63:
// the multiplier is (2^(63+l) + e)/s with e < s, which makes the quotient too
// large by i·e/2^(63+l) < 1 parts of s, too little to reach the next number.
type divider struct {
	multiplier uint64
	shift      uint8
}

func newDivider(s uint64) divider {
	l := bits.Len64(s - 1)
	hi, lo := uint64(0), uint64(1)<<63 // 2^(63+l)
	if l > 0 {
		hi, lo = 1<<(l-1), 0
	}
	q, rem := bits.Div64(hi, lo, s)
	return divider{multiplier: q + min(1, rem), shift: uint8(l)}
}

// of returns ⌊i/s⌋, for i below 2^63.
func (d divider) of(i uint64) uint64 {
	hi, _ := bits.Mul64(2*i, d.multiplier)
	return hi >> (d.shift & 63)
}
