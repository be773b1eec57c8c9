package deletable

import (
	"cmp"
	"fmt"

	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Config is what is asked for: how many keys, at which rate, and how many of them shall be
// possible to delete. The zero Config asks for a million keys at one false
// positive in a thousand, of which nine in ten can be deleted.
type Config struct {
	// Items is the number of keys the filter is made for; 0 means 1,000,000. More
	// may be added, at the price of a higher rate and fewer keys that can be
	// deleted.
	Items uint64

	// FPR is the expected rate of false positives with Items keys that were added and
	// none deleted, above 0 and below 1; 0 means 0.001, the default of [Sum]. As in
	// package bloom it is a mean.
	FPR float64

	// Deletability is the expected share of keys that can be deleted when Items
	// keys are in, above 0 and below 1; 0 means 0.9. Deleting and adding in turn
	// wears it off: see the package comment.
	Deletability float64

	// RegionShare is the share of the bits that code the regions, above 0 and at
	// most 0.5, to fix what is spent rather than what is gained:
	// 0.1 is the example of [DlBF10], 0.5 the collision array of [Sum]. 0 means
	// that Deletability decides; giving both is an error.
	RegionShare float64

	// Salt makes filters of one size spread the same keys differently. Only
	// filters of equal salt can be merged.
	Salt uint64
}

const (
	defaultDeletability = 0.9

	maxBits   = 1 << 50 // keeps all arithmetic within 64 bits; memory ends long before
	minPinned = 1e-9    // keeps the search for a plan away from sizes without end
)

// withDefaults fills in what was left open and reports everything that is wrong.
func (c Config) withDefaults() (Config, error) {
	c.Items = cmp.Or(c.Items, sizing.Items)
	c.FPR = cmp.Or(c.FPR, sizing.FPR)
	p := sizing.In("deletable")
	p.Size(c.Items, sizing.MaxItems, c.FPR)
	if c.Deletability != 0 && !(c.Deletability > 0 && c.Deletability <= 1-minPinned) {
		p.Addf("Deletability: %v, must be above 0 and at most 1 - %g", c.Deletability, minPinned)
	}
	if c.RegionShare != 0 && !(c.RegionShare > 0 && c.RegionShare <= 0.5) {
		p.Addf("RegionShare: %g, must be above 0 and at most 0.5", c.RegionShare)
	}
	if c.Deletability != 0 && c.RegionShare != 0 {
		p.Addf("Deletability and RegionShare: one of them decides, leave the other 0")
	}
	c.Deletability = cmp.Or(c.Deletability, defaultDeletability)
	return c, p.Err()
}

// Shape returns the geometry for c, with the fewest bits in all: see
// [Shape.FPR] and [Shape.Deletability] for what it gives. It often has fewer
// hashes than a standard filter, since keys with fewer bits collide less and
// regions may then be larger.
func (c Config) Shape() (Shape, error) {
	c, err := c.withDefaults()
	if err != nil {
		return Shape{}, err
	}
	n := float64(c.Items)
	var p plan
	if c.RegionShare != 0 {
		p = planShare(n, c.FPR, c.RegionShare)
	} else {
		p = planDeletability(n, c.FPR, c.Deletability)
	}
	if p.total() > maxBits {
		return Shape{}, fmt.Errorf("deletable: %d items at %g with deletability %v: %.3g bits, at most %d", c.Items, c.FPR, c.Deletability, p.total(), uint64(maxBits))
	}
	s := Shape{Bits: uint64(p.total()), Hashes: p.hashes, Regions: uint64(p.regions), Salt: c.Salt}
	return s, s.check()
}

// Shape is the geometry of a [Filter]: what papers state and files store.
type Shape struct {
	Bits    uint64 // m, those that code the regions included
	Hashes  int    // k
	Regions uint64 // r; half of Bits means regions of one bit, the collision array of [Sum]
	Salt    uint64
}

// Cells returns m' = m - r, the number of bits that keys are mapped to.
func (s Shape) Cells() uint64 { return s.Bits - s.Regions }

// RegionBits returns the number of cells in a region, ⌈m'/r⌉. The last region may
// have fewer, and where the rounding leaves nothing to them there are fewer
// regions than r.
func (s Shape) RegionBits() uint64 { return ceilDiv(s.Cells(), s.Regions) }

// usedRegions returns the number of regions that have cells.
func (s Shape) usedRegions() uint64 { return ceilDiv(s.Cells(), s.RegionBits()) }

// FPR returns the rate with n keys, Eq. (2) of [DlBF10].
func (s Shape) FPR(n uint64) float64 {
	return theory.DeletableFPR(float64(s.Bits), float64(s.Regions), float64(s.Hashes), float64(n))
}

// Deletability returns the expected share of n keys, added once each and in a
// row, that can be deleted.
func (s Shape) Deletability(n uint64) float64 {
	return theory.DeletableShare(float64(s.Cells()), float64(s.Hashes), float64(n), float64(s.RegionBits()))
}

// Candidate returns the shape of candidate number i of [Choose]: s with another
// salt.
func (s Shape) Candidate(i int) Shape {
	s.Salt += uint64(i)
	return s
}

func (s Shape) check() error {
	p := sizing.In("deletable")
	sizing.Between(&p, "Bits", s.Bits, 2, maxBits)
	sizing.Between(&p, "Hashes", s.Hashes, 1, sizing.MaxHashes)
	if s.Regions < 1 || s.Regions > s.Bits/2 {
		p.Addf("Regions: %d, must be 1 to %d, half of Bits", s.Regions, s.Bits/2)
	}
	return p.Err()
}

func ceilDiv(a, b uint64) uint64 { return (a + b - 1) / b }
