package bloom

import (
	"cmp"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Config is what is asked for: how many keys, at which rate. The zero Config asks for a
// million keys at one false positive in a thousand.
type Config struct {
	// Items is the number of keys the filter is made for; 0 means 1,000,000. More
	// may be added, at the price of a higher rate.
	Items uint64

	// FPR is the expected rate of false positives with Items keys, above 0 and below
	// 1; 0 means 0.001, the default of [Sum]. It is a mean over filters. The rate of
	// a single one scatters around it, with 1,000 keys by a standard deviation of 5 %
	// of it, or 6 to 12 % for a [Blocked] one, and with n keys by as much times the
	// root of 1000/n.
	FPR float64

	// Salt makes filters of one size spread the same keys differently. Only
	// filters of equal salt can be merged.
	Salt uint64
}

// withDefaults fills in what was left open and reports everything that is wrong.
func (c Config) withDefaults() (Config, error) {
	c.Items = cmp.Or(c.Items, sizing.Items)
	c.FPR = cmp.Or(c.FPR, sizing.FPR)
	p := sizing.In("bloom")
	p.Size(c.Items, sizing.MaxItems, c.FPR)
	return c, p.Err()
}

// maxBits keeps all arithmetic within 64 bits; memory ends long before.
const maxBits = 1 << 50

// Shape returns the geometry of a [Filter] for the config.
//
//	[Sum]: m = -n ln(P) / (ln 2)^2, k = (m/n) ln 2
//
// m is rounded up and k to the nearest number from 1 on. Since the best k is no
// whole number, the exact rate is above the asked one by up to 3 % of it, or 1.6 %
// for rates under 0.15 and 100 keys or more; [Shape.FPR] tells. Rates above a third,
// where k is 1, are met exactly. For a dozen keys or fewer, where the formula falls
// short by a quarter, m is as large as the 3 % ask for.
func (c Config) Shape() (Shape, error) {
	c, err := c.withDefaults()
	if err != nil {
		return Shape{}, err
	}
	n := float64(c.Items)
	m := max(1, math.Ceil(theory.BloomBits(n, c.FPR)))
	k := min(max(1, math.Round(theory.BloomHashes(m, n))), sizing.MaxHashes)
	if k == 1 { // so far from the best k that the formula for m is far off
		m = max(m, bitsFor(n, k, c.FPR))
	} else {
		m = max(m, bitsFor(n, k, c.FPR*rounding))
	}
	s := Shape{Bits: uint64(m), Hashes: int(k), Salt: c.Salt}
	return s, s.check()
}

// rounding is by how much at most the rate may exceed the asked one because the number
// of hashes is a whole one.
const rounding = 1.03

// bitsFor returns the smallest m at which n keys with k hashes have rate f at most:
// [theory.BloomFPR], solved for m.
func bitsFor(n, k, f float64) float64 {
	return math.Ceil(-1 / math.Expm1(math.Log1p(-math.Pow(f, 1/k))/(k*n)))
}

// BlockedShape returns the geometry of a [Blocked] filter for the config, from the
// exact mixture over the blocks' loads ([theory.BlockedBits]).
func (c Config) BlockedShape() (BlockedShape, error) {
	c, err := c.withDefaults()
	if err != nil {
		return BlockedShape{}, err
	}
	bitsPerKey, perWord := theory.BlockedBits(c.FPR)
	blocks := max(1, math.Ceil(float64(c.Items)*bitsPerKey/theory.BlockBits))
	s := BlockedShape{Blocks: uint64(blocks), Hashes: perWord * theory.BlockWords, Salt: c.Salt}
	return s, s.check()
}

// Shape is the geometry of a [Filter]: what papers state and files store.
type Shape struct {
	Bits   uint64 // m
	Hashes int    // k
	Salt   uint64
}

// FPR returns the rate with n keys.
func (s Shape) FPR(n uint64) float64 {
	return theory.BloomFPR(float64(s.Bits), float64(s.Hashes), float64(n))
}

func (s Shape) check() error {
	p := sizing.In("bloom")
	sizing.Between(&p, "Bits", s.Bits, 1, maxBits)
	sizing.Between(&p, "Hashes", s.Hashes, 1, sizing.MaxHashes)
	return p.Err()
}

// BlockedShape is the geometry of a [Blocked] filter.
type BlockedShape struct {
	Blocks uint64 // of 512 bits
	Hashes int    // bits per key: 8, 16, 24 or 32, evenly over the 8 words of a block
	Salt   uint64
}

// Bits returns the number of bits.
func (s BlockedShape) Bits() uint64 { return s.Blocks * theory.BlockBits }

// FPR returns the rate with n keys; for a shape that cannot be built it is no
// number.
func (s BlockedShape) FPR(n uint64) float64 {
	if s.check() != nil {
		return math.NaN()
	}
	return theory.BlockedFPR(float64(n)/float64(s.Blocks), s.perWord())
}

// Predict says what a filter of this shape is like with n keys.
func (s BlockedShape) Predict(n uint64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(float64(s.Bits()), n),
		FPR:            s.FPR(n),
		HitLines:       1,
		MissLines:      1,
	}, nil
}

func (s BlockedShape) perWord() int { return s.Hashes / theory.BlockWords }

func (s BlockedShape) check() error {
	p := sizing.In("bloom")
	sizing.Between(&p, "Blocks", s.Blocks, 1, maxBits/theory.BlockBits)
	p.OneOf("Hashes", s.Hashes, 8, 16, 24, 32)
	return p.Err()
}
