package counting

import (
	"cmp"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Config is what is asked for: how many keys, at which rate. The zero Config asks for a
// million keys at one false positive in a thousand, with counters of 4 bits.
type Config struct {
	// Items is the number of different keys the filter is made for; 0 means
	// 1,000,000. More may be added, at the price of a higher rate.
	Items uint64

	// FPR is the expected rate of false positives with Items keys, above 0 and below
	// 1; 0 means 0.001, the default of [Sum]. As in package bloom it is a mean.
	FPR float64

	// CounterBits is the width of a counter: 2, 4 or 8; 0 means 4, which suffices
	// for any set whose keys are added once. See the package comment before
	// taking 2.
	CounterBits int

	// Salt makes filters of one size spread the same keys differently. Only
	// filters of equal salt can be merged.
	Salt uint64
}

const defaultCounterBits = 4

// Shape returns the geometry for c: as many counters as a [bloom.Filter]
// for it has bits, and as many hashes.
func (c Config) Shape() (Shape, error) {
	p := sizing.In("counting")
	plain, err := bloom.Config{Items: c.Items, FPR: c.FPR, Salt: c.Salt}.Shape()
	if err != nil {
		p.Addf("%w", err)
	}
	width := cmp.Or(c.CounterBits, defaultCounterBits)
	checkWidth(&p, width)
	if err := p.Err(); err != nil {
		return Shape{}, err
	}
	s := Shape{Counters: plain.Bits, Hashes: plain.Hashes, CounterBits: width, Salt: c.Salt}
	return s, s.check()
}

// Shape is the geometry of a [Filter]: what papers state and files store.
type Shape struct {
	Counters    uint64 // m
	Hashes      int    // k
	CounterBits int    // 2, 4 or 8
	Salt        uint64
}

// maxCounters is the limit of package bloom, so that every filter has a plain one.
const maxCounters = 1 << 50

// Bits returns the number of bits that all counters have.
func (s Shape) Bits() uint64 { return s.Counters * uint64(s.CounterBits) }

// FPR returns the rate with n different keys.
func (s Shape) FPR(n uint64) float64 {
	return theory.BloomFPR(float64(s.Counters), float64(s.Hashes), float64(n))
}

// Load returns the expected value of a counter with n keys: kn/m.
func (s Shape) Load(n uint64) float64 {
	return float64(s.Hashes) * float64(n) / float64(s.Counters)
}

// plain returns the geometry of the Bloom filter with the same positions.
func (s Shape) plain() bloom.Shape {
	return bloom.Shape{Bits: s.Counters, Hashes: s.Hashes, Salt: s.Salt}
}

func (s Shape) check() error {
	p := sizing.In("counting")
	sizing.Between(&p, "Counters", s.Counters, 1, maxCounters)
	sizing.Between(&p, "Hashes", s.Hashes, 1, sizing.MaxHashes)
	checkWidth(&p, s.CounterBits)
	return p.Err()
}

func checkWidth(p *sizing.Problems, counterBits int) { p.OneOf("CounterBits", counterBits, 2, 4, 8) }
