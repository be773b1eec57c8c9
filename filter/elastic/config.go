package elastic

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Config is what is asked for: how many keys there will usually be, and at which rate. The
// zero Config asks for a million keys at one false positive in a thousand. More
// keys make the filter grow, fewer make it shrink, down to the size for Items.
type Config struct {
	// Items is the common number of keys; 0 means 1,000,000. Up to it the filter
	// has its initial size, the smallest power of two that will do.
	Items uint64

	// FPR is the rate that growing keeps, above 0 and below 1; 0 means 0.001.
	FPR float64

	// Hashes is the number of bits and fingerprints of a key, k, 1 to 64. 0 means
	// what needs the least fast memory, log2(1/FPR), but 3 at least. Fewer are
	// faster and need less slow memory.
	Hashes int

	// Slots is the room of a bucket, D, 1 to 32. 0 means as few as make an overflow
	// unlikely: see [Config.Shape], which refuses a number that is hopeless for Items.
	Slots int

	// Branches is how many buckets share one of level 2, b, up to 8; 0 means 3, and
	// 1 that there is no level 2.
	Branches int

	// Growth is how often the filter can double, counted from its initial size. Each
	// costs a bit per fingerprint. 0 means up to 2^36 bits, and 8 at least.
	Growth int

	// HashBits is the width of the k numbers of a key, w, at most 62. 0 means as many
	// as Growth takes and, left over after it, as many as keep the odds that a new key
	// is taken for one that is in the set below 1e-15. [EBF21] has 32. With fewer, new
	// keys are taken for old ones and not counted; deleting such a key,
	// or the old one, takes the other out of the set, too.
	HashBits int

	// Eager says that an expansion moves all fingerprints at once, which the lazy
	// update spreads over the changes that follow.
	Eager bool

	// SlowFile is the path of a file for the slow memory, which is made, and removed by
	// [Filter.Close]. It never shrinks: what a smaller filter does not need is kept for
	// the next growth. None means ordinary memory.
	SlowFile string

	// Salt makes filters of one size spread the same keys differently. Only
	// filters of equal salt can be merged.
	Salt uint64
}

const (
	defaultBranches = 3
	leastHashes     = 3  // by default: fewer would need wide fingerprints
	leastGrowth     = 8  // by default
	defaultLimit    = 36 // log2 of the bits that the default growth leads to
	mistakeOdds     = 1e-15
	overflowOdds    = 1e-3
	roomyDoublings  = 4   // that few slots may cost
	likely          = 0.5 // trees that overflow
)

// Limits that keep all arithmetic within 64 bits; memory ends long before.
const (
	maxSizeBits = 50 // log2 of the bits, grown or not
	maxSlots    = 32
	maxBranches = 8 // so that the counts of a tree fit a word
	maxHashBits = 62
	maxPrint    = 56 // bits of a fingerprint
	leastBits   = 64 // of an initial size that New chooses
)

// withDefaults fills in what was left open and reports everything that is wrong.
func (c Config) withDefaults() (Config, error) {
	c.Items = cmp.Or(c.Items, sizing.Items)
	c.FPR = cmp.Or(c.FPR, sizing.FPR)
	c.Branches = cmp.Or(c.Branches, defaultBranches)
	if c.Hashes == 0 && c.FPR > 0 && c.FPR < 1 {
		c.Hashes = int(min(max(leastHashes, math.Round(theory.ElasticHashes(c.FPR))), sizing.MaxHashes))
	}
	p := sizing.In("elastic")
	p.Size(c.Items, sizing.MaxItems, c.FPR)
	if c.Hashes != 0 || p.None() {
		sizing.Between(&p, "Hashes", c.Hashes, 1, sizing.MaxHashes)
	}
	sizing.Between(&p, "Slots", c.Slots, 0, maxSlots)
	sizing.Between(&p, "Branches", c.Branches, 1, maxBranches)
	sizing.Between(&p, "Growth", c.Growth, 0, maxSizeBits)
	sizing.Between(&p, "HashBits", c.HashBits, 0, maxHashBits)
	return c, p.Err()
}

// Shape returns the geometry for what is asked for, as [EBF21] Sec. 4.3 says, with the
// signs mended (see docs/papers/ebf21.md):
//
//	k = log2(1/δ), m = -kn/ln(1 - δ^(1/k)), Ω = δ^(1/k)
//
// m is rounded up to a power of two. The paper's D guards only loads that do not occur
// (theory.ElasticBucketSize); this one is the smallest for which the exact odds that a
// bucket tree overflows (theory.ElasticTreeOverflow) before the set-bit rate is Ω are
// at most
// 0.001, for a filter 16 times as large as the initial one. Slots that were asked
// for are refused if a tree probably overflows at Items even after four doublings,
// or after all with odds above 0.001.
func (c Config) Shape() (Shape, error) {
	c, err := c.withDefaults()
	if err != nil {
		return Shape{}, err
	}
	s := Shape{
		Hashes:    c.Hashes,
		Branches:  c.Branches,
		Threshold: theory.ElasticThreshold(c.FPR, c.Hashes),
		Slots:     c.Slots,
		Salt:      c.Salt,
	}
	need := math.Ceil(theory.ElasticBits(float64(c.Items), c.FPR, c.Hashes))
	if need > 1<<maxSizeBits {
		return Shape{}, fmt.Errorf("elastic: Items and FPR: %g bits, at most 2^%d", need, maxSizeBits)
	}
	s.Bits = max(leastBits, uint64(1)<<bits.Len64(uint64(max(1, need))-1))
	s.Growth, s.HashBits = c.widths(s)
	if s.Slots == 0 {
		s.Slots = s.fewestSlots()
	}
	if err := s.check(); err != nil {
		return s, err
	}
	return s, s.checkRoom(c.Items)
}

// checkRoom refuses too few slots for n keys: a filter that probably has to be
// larger than after roomyDoublings, or for which its Growth may not be enough.
func (s Shape) checkRoom(n uint64) error {
	if s.overflows(n, min(s.Growth, roomyDoublings)) <= likely && s.overflows(n, s.Growth) <= overflowOdds {
		return nil
	}
	return fmt.Errorf("elastic: Slots: %d, too few: bucket trees of %d branches would overflow by %d items", s.Slots, s.Branches, n)
}

// overflows returns the expected number of bucket trees that n keys make overflow
// after e doublings.
func (s Shape) overflows(n uint64, e int) float64 {
	size := math.Ldexp(float64(s.Bits), e)
	return size / float64(s.Branches) * theory.ElasticTreeOverflow(float64(n)*float64(s.Hashes)/size, s.Slots, s.Branches)
}

// widths chooses how often a filter can double and the width of its numbers.
func (c Config) widths(s Shape) (growth, width int) {
	size := s.sizeBits()
	spare := spareBits(s.load(), s.Hashes)
	most := maxSizeBits - size
	if growth = c.Growth; growth == 0 {
		growth = min(max(leastGrowth, defaultLimit-size), most)
		room := min(maxPrint, maxHashBits-size)
		if c.HashBits != 0 {
			room = c.HashBits - size
		}
		growth = max(0, min(growth, room-spare))
	}
	if width = c.HashBits; width == 0 {
		width = size + growth + spare
	}
	return growth, width
}

// fewestSlots returns the D that Config.Shape explains.
func (s Shape) fewestSlots() int {
	trees := math.Ceil(float64(s.Bits) / float64(s.Branches))
	for d := 1; d < maxSlots; d++ {
		if 16*trees*theory.ElasticTreeOverflow(s.load(), d, s.Branches) <= overflowOdds {
			return d
		}
	}
	return maxSlots
}

// Shape is the geometry of a [Filter]: what papers state and files store.
type Shape struct {
	Bits      uint64  // m at the beginning and at least, a power of two
	Hashes    int     // k
	HashBits  int     // w, the width of the k numbers of a key
	Slots     int     // D, in each bucket
	Branches  int     // b, buckets of level 1 that share one of level 2; 1 if there is no level 2
	Growth    int     // how often Bits can double
	Threshold float64 // Ω, the share of set bits that makes the filter double
	Salt      uint64
}

// sizeBits returns log2 of the initial size.
func (s Shape) sizeBits() int { return bits.Len64(s.Bits) - 1 }

// printBits returns the width of a fingerprint at the initial size, the widest.
func (s Shape) printBits() int { return s.HashBits - s.sizeBits() }

// leastThreshold returns the share of set bits that one key gives at the initial size.
// New makes no filter with a lower threshold: every key would make it double again and
// again. It allows for the rounding of the logarithm.
func (s Shape) leastThreshold() float64 {
	return -math.Expm1(-float64(s.Hashes)/float64(max(leastBits, s.Bits))) * (1 - 1e-9)
}

// load returns the mean number of fingerprints of a bucket when the share of set
// bits is the threshold.
func (s Shape) load() float64 { return -math.Log1p(-s.Threshold) }

func (s Shape) check() error {
	p := sizing.In("elastic")
	if bits.OnesCount64(s.Bits) != 1 || s.Bits > 1<<maxSizeBits {
		p.Addf("Bits: %d, must be a power of two up to 2^%d", s.Bits, maxSizeBits)
	}
	sizing.Between(&p, "Hashes", s.Hashes, 1, sizing.MaxHashes)
	sizing.Between(&p, "Slots", s.Slots, 1, maxSlots)
	sizing.Between(&p, "Branches", s.Branches, 1, maxBranches)
	if !(s.Threshold > 0 && s.Threshold <= 1) {
		p.Addf("Threshold: %g, must be above 0 and at most 1", s.Threshold)
	}
	if !p.None() {
		return p.Err()
	}
	if least := s.leastThreshold(); s.Threshold < least {
		p.Addf("Threshold: %g, at least %.3g, which one key of %d hashes in %d bits needs",
			s.Threshold, least, s.Hashes, max(leastBits, s.Bits))
	}
	sizing.Between(&p, "HashBits", s.HashBits, s.sizeBits()+1, min(maxHashBits, s.sizeBits()+maxPrint))
	if p.None() {
		sizing.Between(&p, "Growth", s.Growth, 0, min(s.printBits(), maxSizeBits-s.sizeBits()))
	}
	return p.Err()
}

// spareBits returns how many bits of a fingerprint must be left, at the given load
// of the buckets, for odds of a mistake below 1e-15.
func spareBits(load float64, k int) int {
	load = min(load, 2*maxSlots) // buckets have no room for more, even if the threshold is 1
	return max(0, int(math.Ceil(math.Log2(load)-math.Log2(mistakeOdds)/float64(k))))
}
