package counting

import (
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Config is the wish: how many keys, at which rate. The zero Config asks for a
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

const (
	defaultItems       = 1_000_000
	defaultCounterBits = 4
)

// withDefaults fills in what is not left to package bloom.
func (c Config) withDefaults() Config {
	if c.Items == 0 {
		c.Items = defaultItems
	}
	if c.CounterBits == 0 {
		c.CounterBits = defaultCounterBits
	}
	return c
}

// Shape returns the geometry for the wish: as many counters as a [bloom.Filter]
// for it has bits, and as many hashes.
func (c Config) Shape() (Shape, error) {
	c = c.withDefaults()
	plain, err := bloom.Config{Items: c.Items, FPR: c.FPR, Salt: c.Salt}.Shape()
	if err != nil {
		err = fmt.Errorf("counting: %w", err)
	}
	if err := errors.Join(err, checkWidth(c.CounterBits)); err != nil {
		return Shape{}, err
	}
	s := Shape{Counters: plain.Bits, Hashes: plain.Hashes, CounterBits: c.CounterBits, Salt: c.Salt}
	return s, s.check()
}

// Shape is the geometry of a [Filter]: what papers state and files store.
type Shape struct {
	Counters    uint64 // m
	Hashes      int    // k
	CounterBits int    // 2, 4 or 8
	Salt        uint64
}

// Limits that keep all arithmetic within 64 bits; memory ends long before. They
// are those of package bloom, so that every filter has a plain one.
const (
	maxCounters = 1 << 50
	maxHashes   = 64
)

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
	var errs []error
	if s.Counters < 1 || s.Counters > maxCounters {
		errs = append(errs, fmt.Errorf("counting: Counters: %d, must be 1 to %d", s.Counters, uint64(maxCounters)))
	}
	if s.Hashes < 1 || s.Hashes > maxHashes {
		errs = append(errs, fmt.Errorf("counting: Hashes: %d, must be 1 to %d", s.Hashes, maxHashes))
	}
	return errors.Join(append(errs, checkWidth(s.CounterBits))...)
}

func checkWidth(counterBits int) error {
	switch counterBits {
	case 2, 4, 8:
		return nil
	}
	return fmt.Errorf("counting: CounterBits: %d, must be 2, 4 or 8", counterBits)
}
