package evergreen

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen/internal/slab"
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
	g := slab.GeometryOf(width / 8)
	runs := make([]float64, g.Most+1) // by the number of their fingerprints
	for _, part := range []struct{ blocks, load float64 }{{base - split, n / base}, {2 * split, n / (2 * base)}} {
		for i, p := range theory.Poisson(part.load) {
			runs[min(i, g.Most)] += p * part.blocks
		}
	}
	return g.ExpectedBits(runs, blocks)
}

// floor returns the rate at which keys that were not added have the place and the
// fingerprint of one that was. There is no such key if fingerprints are whole.
func (s Shape) floor(n uint64) float64 {
	if s.Exact() {
		return 0
	}
	return float64(n) * math.Exp2(-float64(s.Width+lowBits))
}

// floorShare is how much of the asked rate may be lost to equal fingerprints.
const floorShare = 0.1

// Capacity returns how many keys the filter can hold. Where whole keys are kept
// that is more than any memory has; otherwise it ends where keys that cannot be
// told from one another make up a tenth of the rate.
func (s Shape) Capacity() uint64 {
	if s.Exact() {
		return 1 << 62
	}
	return uint64(floorShare * s.FPR * math.Exp2(float64(s.Width+lowBits)))
}

// Predict says what a filter of this shape will be like with n keys, if it grew from
// the smallest size. More keys than Capacity are ErrFull.
func (s Shape) Predict(n uint64) (filter.Prediction, error) { return s.predict(n, 0) }

// Predict says what a filter made for c will be like with n keys. It has the blocks
// for the Items from the start, and more when more keys need them.
func (c Config) Predict(n uint64) (filter.Prediction, error) {
	s, err := c.Shape()
	if err != nil {
		return filter.Prediction{}, err
	}
	return s.predict(n, s.blocksFor(c.Items))
}

// predict is Predict for a filter that has so many blocks at least.
func (s Shape) predict(n uint64, least float64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	if n > s.Capacity() {
		return filter.Prediction{}, fmt.Errorf("evergreen: %d keys, at most %d: %w", n, s.Capacity(), filter.ErrFull)
	}
	blocks := max(s.blocksFor(n), least)
	if blocks == 0 {
		return predictList(n), nil
	}
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(math.Floor(blocks)*theory.BlockBits, n),
		SlowBitsPerKey: filter.PerKey(SlowBits(float64(n), blocks, s.Width), n),
		FPR:            Rate(float64(n), blocks, s.perWord()) + s.floor(n),
		HitLines:       1,
		MissLines:      1,
	}, nil
}

// blocksFor returns how many blocks n keys need, 0 for a list.
func (s Shape) blocksFor(n uint64) float64 {
	if s.Exact() && n <= uint64(listMost) {
		return 0
	}
	return s.tableBlocks(n)
}

// tableBlocks returns how many blocks a table of n keys needs.
func (s Shape) tableBlocks(n uint64) float64 {
	floor := s.floor(n)
	blocks := Blocks(float64(n), max(s.FPR-floor, s.FPR/2), s.perWord())
	blocks = Blocks(float64(n), max(s.FPR*(1-scatter/math.Sqrt(blocks))-floor, s.FPR/2), s.perWord())
	return max(blocks, float64(s.leastBlocks("")))
}

// predictList is Predict for a list of keys: a query reads where they are, and a line
// for each halving until one line is left.
func predictList(n uint64) filter.Prediction {
	lines := 2 + math.Log2(max(1, float64(n)/8))
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(float64(listBits(n)), n),
		FPR:            listRate(n),
		HitLines:       lines,
		MissLines:      lines,
	}
}
