package evergreen

import (
	"math"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// Rate returns the false-positive rate of n keys in the given number of blocks,
// perWord bits in each word of a block, when blocks are split one at a time.
//
//	[PSS07] Sec. 3, f_blo, for a file that grows linearly: with base = 2^floor(log2 blocks)
//	f = u f_blo(n/base) + (1-u) f_blo(n/(2 base)),  u = (2 base - blocks)/base
//
// u is the share of keys whose block has not been split since the last doubling:
// these blocks hold twice as many keys as the others, and are asked twice as often.
// Exact for independent, evenly spread positions and many blocks.
func Rate(n, blocks float64, perWord int) float64 {
	base := math.Exp2(math.Floor(math.Log2(blocks)))
	u := (2*base - blocks) / base
	return u*theory.BlockedFPR(n/base, perWord) + (1-u)*theory.BlockedFPR(n/(2*base), perWord)
}

// Blocks returns the smallest number of blocks, 256 or more, with which n keys have
// at most rate f.
//
//	[PSS07] Sec. 3, f_blo, as in [Rate], solved for the blocks.
func Blocks(n, f float64, perWord int) float64 {
	low, high := float64(minBlocks-1), float64(minBlocks)
	before, rate := 0.0, theory.BlockedFPR(n/high, perWord) // of low and of high
	for rate > f {
		low, high = high, 2*high
		before, rate = rate, theory.BlockedFPR(n/high, perWord)
	}
	base := low
	for high-low > 1 {
		mid := math.Floor((low + high) / 2)
		if u := (2*base - mid) / base; u*before+(1-u)*rate > f { // Rate(n, mid, perWord)
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// SlowBits returns the bits of slow memory for n keys in the given number of
// blocks, with fingerprints of width bits: runs, their owners and the unused ends
// of runs, the words that say where they are, and half a page for every class of
// runs.
//
//	[PSS07] Sec. 3: a block holds i keys with the probability Poisson(n/2^level, i)
//
// Exact for many blocks but for the half pages.
func SlowBits(n, blocks float64, width int) float64 {
	base := math.Exp2(math.Floor(math.Log2(blocks)))
	split := blocks - base
	var runs [classCount]float64 // of each class
	g := geometries[width/8]()
	for _, part := range []struct{ blocks, load float64 }{{base - split, n / base}, {2 * split, n / (2 * base)}} {
		for i, p := range theory.Poisson(part.load) {
			runs[g.classes[min(i, g.most)]] += p * part.blocks
		}
	}
	var pageCount float64
	for class, count := range runs {
		if class > 0 && count > 0 {
			used := min(1, count) // whether there is such a run at all
			pageCount += max(used, count/float64(perPage(class))+used/2)
		}
	}
	return pageCount*(8*pageBytes+64) + 64*blocks
}

// floor returns the rate at which keys that were not added have the place and the
// fingerprint of one that was. There is no such key if fingerprints are whole.
func (s Shape) floor(n uint64) float64 {
	if s.Full() {
		return 0
	}
	return float64(n) * math.Exp2(-float64(s.Width+lowBits))
}

// floorShare is how much of the asked rate may be lost to equal fingerprints.
const floorShare = 0.1

// Capacity returns how many keys the filter can hold. Where whole keys are kept
// that is more than any memory has; otherwise it ends where keys that cannot be
// told apart make up a tenth of the rate.
func (s Shape) Capacity() uint64 {
	if s.Full() {
		return 1 << 62
	}
	return uint64(floorShare * s.FPR * math.Exp2(float64(s.Width+lowBits)))
}

// Prediction is what a filter will be like that grew to some number of keys.
type Prediction struct {
	Blocks   uint64 // 0 where the keys are in a list
	FastBits uint64
	SlowBits uint64
	FPR      float64
}

// Predict returns what a filter of this shape will be like with n keys, if it grew
// from the smallest size.
func (s Shape) Predict(n uint64) Prediction {
	if s.Full() && n <= uint64(listMost) {
		return Prediction{FastBits: listBits(n), FPR: listRate(n)}
	}
	return s.predictTable(n)
}

// predictTable is Predict for a table.
func (s Shape) predictTable(n uint64) Prediction {
	floor := s.floor(n)
	blocks := Blocks(float64(n), max(s.FPR-floor, s.FPR/2), s.perWord())
	blocks = Blocks(float64(n), max(s.FPR*(1-scatter/math.Sqrt(blocks))-floor, s.FPR/2), s.perWord())
	blocks = max(blocks, float64(s.leastBlocks("")))
	return Prediction{
		Blocks:   uint64(blocks),
		FastBits: uint64(blocks) * theory.BlockBits,
		SlowBits: uint64(SlowBits(float64(n), blocks, s.Width)),
		FPR:      Rate(float64(n), blocks, s.perWord()) + floor,
	}
}
