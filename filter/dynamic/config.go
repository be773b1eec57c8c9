package dynamic

import (
	"cmp"
	"math"

	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Config is what is asked for: how many keys a unit takes, at which rate. The zero Config
// asks for units of a million keys at one false positive in a thousand, with
// counters of 4 bits.
type Config struct {
	// Items is the number of different keys that the first unit takes, or in a
	// [Parallel] the first units of all lists together; 0 means 1,000,000. Up to
	// there the rate is at most FPR. Every further unit adds as much to it again.
	Items uint64

	// FPR is the rate of false positives of a full unit, above 0 and below 1;
	// 0 means 0.001.
	FPR float64

	// CounterBits is the width of a unit's counters: 2, 4 or 8; 0 means 4. With 1
	// the units are plain Bloom filters, which take a quarter of the memory and
	// cannot delete. See package counting before taking 2.
	CounterBits int

	// Partitions is the number of lists of a [Parallel], 1 to 4096; 0 means 16. A
	// [Filter] has none.
	Partitions int

	// Salt makes filters of one size spread the same keys differently. Only
	// filters of equal salt can be merged.
	Salt uint64
}

const (
	defaultCounterBits = 4
	defaultPartitions  = 16
)

// Limits that keep all arithmetic within 64 bits; memory ends long before.
const (
	maxItems      = 1 << 40
	maxPositions  = 1 << 46
	maxPartitions = 1 << 12

	leastFull = 32 // this part of a unit's positions may be set, and more
)

// withDefaults fills in what was left open and reports everything that is wrong.
func (c Config) withDefaults() (Config, sizing.Problems) {
	c.Items = cmp.Or(c.Items, sizing.Items)
	c.FPR = cmp.Or(c.FPR, sizing.FPR)
	c.CounterBits = cmp.Or(c.CounterBits, defaultCounterBits)
	p := sizing.In("dynamic")
	p.Size(c.Items, maxItems, c.FPR)
	checkWidth(&p, c.CounterBits)
	return c, p
}

// Shape returns the geometry of a [Filter] for c.
//
//	[DPBF19] Eq. (1): m = -n k / ln(1 - f^(1/k))
//
// with the best whole k, and so much more that Items keys fit with near certainty:
// a unit is full by its set bits, whose number scatters, and it is called full
// before the next key could take it beyond the rate.
func (c Config) Shape() (Shape, error) {
	c, p := c.withDefaults()
	if c.Partitions != 0 {
		p.Addf("Partitions: %d, only a Parallel has them", c.Partitions)
	}
	if err := p.Err(); err != nil {
		return Shape{}, err
	}
	return c.unit(c.Items)
}

// ParallelShape returns the geometry of a [Parallel] for c. The lists do
// not get equally many keys, so that each has room for four standard deviations
// more than its share.
func (c Config) ParallelShape() (ParallelShape, error) {
	c, p := c.withDefaults()
	c.Partitions = cmp.Or(c.Partitions, defaultPartitions)
	checkPartitions(&p, c.Partitions)
	if err := p.Err(); err != nil {
		return ParallelShape{}, err
	}
	items := c.Items
	if c.Partitions > 1 {
		share := float64(items) / float64(c.Partitions)
		items = uint64(math.Ceil(share + 4*math.Sqrt(share)))
	}
	s, err := c.unit(items)
	return ParallelShape{c.Partitions, s}, err
}

// unit returns the geometry of a unit for n keys.
func (c Config) unit(n uint64) (Shape, error) {
	k := min(max(1, math.Round(-math.Log2(c.FPR))), sizing.MaxHashes)
	fill := math.Pow(c.FPR, 1/k)
	s := Shape{Hashes: int(k), CounterBits: c.CounterBits, Salt: c.Salt}
	fits := func(m uint64) bool {
		s.Positions, s.Full = m, uint64(float64(m)*fill)
		return s.fits(n)
	}
	low, high := uint64(0), uint64(1) // low does not fit
	for high <= maxPositions && !fits(high) {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	fits(high)
	return s, s.check()
}

// fits reports whether a unit takes n keys with near certainty: whether, four
// standard deviations above the mean, it is not full after all but the last.
func (s Shape) fits(n uint64) bool {
	m, k := float64(s.Positions), float64(s.Hashes)
	mean := m * theory.BloomFill(m, k, float64(n-1))
	unset := 1 - mean/m
	load := -math.Log(unset)
	deviation := math.Sqrt(max(0, m*unset*(1-(1+load)*unset)))
	return mean+4*deviation+k <= float64(s.Full)
}

// Shape is the geometry of a [Filter]: what papers state and files store.
type Shape struct {
	Positions   uint64 // m, bits or counters of a unit
	Hashes      int    // k
	CounterBits int    // 2, 4 or 8, or 1 for plain units
	Full        uint64 // how many positions of a unit may be set
	Salt        uint64
}

// Bits returns the number of bits of one unit.
func (s Shape) Bits() uint64 { return 64 * s.words() }

func (s Shape) words() uint64 { return bitvec.WordsFor(s.Positions * uint64(s.CounterBits)) }

// plain reports whether units are bits.
func (s Shape) plain() bool { return s.CounterBits == 1 }

func (s Shape) check() error {
	p := sizing.In("dynamic")
	sizing.Between(&p, "Positions", s.Positions, 1, maxPositions)
	sizing.Between(&p, "Hashes", s.Hashes, 1, sizing.MaxHashes)
	// Units that are full while they are nearly empty would multiply the memory of a set.
	if least := max(uint64(max(0, s.Hashes)), s.Positions/leastFull); s.Full < least || s.Full > s.Positions {
		p.Addf("Full: %d, must be %d to %d: one key and a %dnd of the positions at least, all at most",
			s.Full, least, s.Positions, leastFull)
	}
	checkWidth(&p, s.CounterBits)
	return p.Err()
}

func checkWidth(p *sizing.Problems, counterBits int) {
	p.OneOf("CounterBits", counterBits, 1, 2, 4, 8)
}

// ParallelShape is the geometry of a [Parallel]: the number of lists, and that of each.
type ParallelShape struct {
	Partitions int
	Shape
}

func (s ParallelShape) check() error {
	p := sizing.In("dynamic")
	checkPartitions(&p, s.Partitions)
	p.Add(s.Shape.check())
	return p.Err()
}

func checkPartitions(p *sizing.Problems, partitions int) {
	sizing.Between(p, "Partitions", partitions, 1, maxPartitions)
}
