package scalable

import (
	"cmp"
	"fmt"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Config is what is asked for: a rate that holds however many keys there will be, and with
// how many to begin. The zero Config asks for one false positive in a thousand and
// room for a million keys in the first unit.
type Config struct {
	// Items is the number of keys that the first unit takes, rounded up to what
	// its blocks hold; 0 means 1,000,000. The better it is guessed, the fewer units
	// there will be: every doubling of the set is one more, which costs memory and
	// time. A guess that is too high wastes no more than the first unit.
	Items uint64

	// FPR is the rate of false positives that is kept however many keys there
	// are, above 0 and below 1; 0 means 0.001. See the package comment for the odds that a
	// single filter passes it all the same.
	FPR float64

	// Salt makes filters of one size spread the same keys differently.
	Salt uint64
}

// maxItems is the largest unit that package bloom makes.
const maxItems = sizing.MaxItems

// Shape returns the geometry for c.
func (c Config) Shape() (Shape, error) {
	c.Items = cmp.Or(c.Items, sizing.Items)
	c.FPR = cmp.Or(c.FPR, sizing.FPR)
	s := Shape(c)
	g, err := s.unit(0)
	if err != nil {
		return Shape{}, err
	}
	s.Items = min(max(s.Items, g.holds(unitFPR(s.FPR, 0))), maxItems)
	return s, nil
}

// Shape is the geometry of a [Filter]: the size of its first unit, and the rate,
// from which all units follow.
type Shape struct {
	Items uint64  // keys of the first unit
	FPR   float64 // that is kept
	Salt  uint64
}

func (s Shape) check() error {
	p := sizing.In("scalable")
	p.Rate(s.FPR, s.Items, 0)
	sizing.Between(&p, "Items", s.Items, 1, maxItems)
	return p.Err()
}

// beyond reports whether unit i would be for more than maxItems keys.
func (s Shape) beyond(i int) bool { return s.Items > maxItems>>i }

// A geometry is that of a unit.
type geometry struct {
	bloom.BlockedShape
	capacity uint64 // keys
}

// unit returns the geometry of unit i, counted from 0: the fewest blocks that keep
// its rate with spares standard deviations to spare. Beyond some 2^44 keys, or where
// the rate would be below what keys of 64 bits allow, there is none.
func (s Shape) unit(i int) (geometry, error) {
	if err := s.check(); err != nil {
		return geometry{}, err
	}
	if s.beyond(i) {
		return geometry{}, fmt.Errorf("scalable: unit %d would be for more than %d keys", i, uint64(maxItems))
	}
	capacity := s.Items << i
	f := unitFPR(s.FPR, i)
	shape, err := bloom.Config{Items: capacity, FPR: f, Salt: s.Salt}.BlockedShape()
	if err != nil {
		return geometry{}, fmt.Errorf("scalable: unit %d: %w", i, err)
	}
	g := geometry{shape, capacity}
	g.widen(f)
	return g, nil
}

// widen adds blocks until the unit keeps rate f with its keys. There are enough for
// the expected rate already, and each block lowers what the rate may come to.
func (g *geometry) widen(f float64) {
	low, high := g.Blocks-1, g.Blocks
	for step := uint64(1); most(g.capacity, high, g.perWord()) > f; step *= 2 {
		low, high = high, high+step
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; most(g.capacity, mid, g.perWord()) > f {
			low = mid
		} else {
			high = mid
		}
	}
	g.Blocks = high
}

// most returns the rate of so many keys in so many blocks, with standard deviations
// to spare.
func most(keys, blocks uint64, perWord int) float64 {
	mean, deviation := scatter(float64(keys), float64(blocks), perWord)
	return mean + spares*deviation
}

// holds returns how many keys the blocks hold at rate f: those of the geometry, and
// as many more as need no further block.
func (g geometry) holds(f float64) uint64 {
	low, high := g.capacity, g.capacity+1
	for step := uint64(1); high < maxItems && most(high, g.Blocks, g.perWord()) <= f; step *= 2 {
		low, high = high, high+step
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; most(mid, g.Blocks, g.perWord()) > f {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

// perWord returns how many bits a key sets in each word of its block.
func (g geometry) perWord() int { return g.Hashes / theory.BlockWords }
