package forward

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter/deletable"
)

// Config is the format of headers. The zero Config means 256 bits, 5 hashes, a tenth of
// the bits for the marks and 16 candidates. All nodes of a network must have the same.
type Config struct {
	// Bits is the size of a header, the number of the candidate included: 16 to 1024;
	// 0 means 256.
	Bits int

	// Hashes is how many bits an ID sets; 0 means 5, as in [DlBF10].
	Hashes int

	// Regions is how many of the bits mark where IDs collided; 0 means a tenth of
	// Bits. With 1 hardly anything can be deleted and hardly anything is spent on it.
	Regions int

	// Candidates is from how many filters the best is chosen, 1 to 256; 0 means 16. It
	// takes ⌈log2 Candidates⌉ bits of the header.
	Candidates int

	// Salt makes headers spread the same IDs differently.
	Salt uint64
}

const (
	minBits       = 16
	maxBits       = 1024
	maxHashes     = 64
	maxCandidates = 256
)

// withDefaults fills in what was left open and reports everything that is wrong.
func (c Config) withDefaults() (Config, error) {
	c.Bits = cmp.Or(c.Bits, 256)
	c.Hashes = cmp.Or(c.Hashes, 5)
	c.Candidates = cmp.Or(c.Candidates, 16)
	c.Regions = cmp.Or(c.Regions, c.Bits/10)
	within := func(name string, v, low, high int) error {
		if v < low || v > high {
			return fmt.Errorf("forward: %s: %d, must be %d to %d", name, v, low, high)
		}
		return nil
	}
	err := errors.Join(
		within("Bits", c.Bits, minBits, maxBits),
		within("Hashes", c.Hashes, 1, maxHashes),
		within("Candidates", c.Candidates, 1, maxCandidates),
	)
	if err == nil {
		err = within("Regions", c.Regions, 1, (c.Bits-c.numberBits())/2)
	}
	return c, err
}

// numberBits is the size of the candidate's number.
func (c Config) numberBits() int { return bits.Len(uint(c.Candidates - 1)) }

// Shape returns the geometry of the filter in the header. Candidate i has the shape
// Shape().Candidate(i).
func (c Config) Shape() (deletable.Shape, error) {
	c, err := c.withDefaults()
	if err != nil {
		return deletable.Shape{}, err
	}
	return c.shape(), nil
}

func (c Config) shape() deletable.Shape {
	return deletable.Shape{
		Bits:    uint64(c.Bits - c.numberBits()),
		Hashes:  c.Hashes,
		Regions: uint64(c.Regions),
		Salt:    c.Salt,
	}
}
