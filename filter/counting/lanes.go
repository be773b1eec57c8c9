package counting

import "math/bits"

// lanes is how counters lie in a word: 64/width of them side by side, counter i
// in the bits from i*width on. Widths divide 64, so none straddles two words.
// Its methods work on all lanes of a word at once.
type lanes struct {
	width uint64
	top   uint64 // the largest value of a counter, also the mask of one
	low   uint64 // the lowest bit of each lane
	high  uint64 // the highest bit of each lane
}

func lanesOf(width int) lanes {
	top := uint64(1)<<width - 1
	low := ^uint64(0) / top
	return lanes{width: uint64(width), top: top, low: low, high: low << (width - 1)}
}

// spread turns the highest bits of some lanes into whole lanes of ones.
func (l lanes) spread(high uint64) uint64 {
	return high | (high - high>>(l.width-1))
}

// used returns the highest bit of each lane that is not zero.
func (l lanes) used(x uint64) uint64 {
	return ((x&^l.high + ^l.high) | x) & l.high
}

// full returns the highest bit of each lane that is at the top.
func (l lanes) full(x uint64) uint64 { return l.used(^x) ^ l.high }

// sum returns the sum of all lanes.
func (l lanes) sum(x uint64) (total uint64) {
	for bit := range l.width {
		total += uint64(bits.OnesCount64(x>>bit&l.low)) << bit
	}
	return total
}

// add returns x + y lane by lane, the top where the sum is larger.
func (l lanes) add(x, y uint64) uint64 {
	sum := (x&^l.high + y&^l.high) ^ ((x ^ y) & l.high)
	carry := (x&y | (x|y)&^sum) & l.high
	return sum | l.spread(carry)
}

// least returns the smaller of x and y lane by lane.
func (l lanes) least(x, y uint64) uint64 {
	difference := ((x | l.high) - y&^l.high) ^ ((x ^ ^y) & l.high)
	borrow := (y&^x | (y|^x)&difference) & l.high
	smaller := l.spread(borrow)
	return x&smaller | y&^smaller
}
