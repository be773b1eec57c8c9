package dleft

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Config says how many keys at which rate. The zero Config asks for a
// million keys at one false positive in a thousand, in the geometry of [dlCBF06].
type Config struct {
	// Items is the number of keys the filter is made for; 0 means 1,000,000. More
	// may be added for as long as they find room.
	Items uint64

	// FPR is the rate of false positives with Items keys, above 0 and below 1.
	// 0 means 0.001, or whatever Remainder gives if that is set.
	FPR float64

	// Subtables is the number of buckets a key may go to, 1 to 8. 0 means 4, or 3
	// where these meet the rate with less memory to look at, which they do at 0.1 %.
	Subtables int

	// Cells is the room in each bucket, 1 to 32; 0 means 8.
	Cells int

	// Load is how many cells of a bucket Items keys use on average. 0 means three
	// quarters of them, or 5.46 where Subtables became 3. [Shape.Overflow] tells how
	// safe a load is.
	Load float64

	// Counter is the number of bits that count equal fingerprints; 0 means 2.
	Counter int

	// Remainder is the number of bits kept of a fingerprint. 0 leaves the choice:
	// as many as make a cell of 16 bits, which is the fastest, if that meets the
	// rate, otherwise as few as do.
	Remainder int

	// Salt makes filters of one size spread the same keys differently. Only
	// filters of equal salt can be merged.
	Salt uint64
}

const (
	defaultSubtables = 4
	defaultCells     = 8
	defaultFill      = 0.75
	defaultCounter   = 2
	defaultWidth     = 16 // of a cell
)

// Limits that keep all arithmetic within 64 bits; memory ends long before.
const (
	maxSubtables = 8
	maxCells     = 32
	maxField     = 30 // bits of a remainder or a counter
	maxWidth     = 32 // bits of a cell
	maxBuckets   = 1 << 42
	maxSpace     = 62 // bits of a fingerprint
)

// withDefaults fills in what was left open and reports everything that is wrong.
func (c Config) withDefaults() (Config, error) {
	c.Items = cmp.Or(c.Items, sizing.Items)
	if c.Remainder == 0 {
		c.FPR = cmp.Or(c.FPR, sizing.FPR)
	}
	c.Counter = cmp.Or(c.Counter, defaultCounter)
	c = c.orTriple()
	c.Subtables = cmp.Or(c.Subtables, defaultSubtables)
	c.Cells = cmp.Or(c.Cells, defaultCells)
	c.Load = cmp.Or(c.Load, defaultFill*float64(c.Cells))
	if err := c.check(); err != nil {
		return c, err
	}
	if c.Remainder == 0 {
		c.Remainder = c.remainder()
	}
	bound := theory.DLeftRateBound(c.Subtables, c.Load, c.Remainder)
	switch {
	case c.FPR == 0 && bound >= 1:
		return c, fmt.Errorf("dleft: Remainder: %d bits, at load %g every key would be found", c.Remainder, c.Load)
	case c.FPR == 0:
		c.FPR = bound
	case bound > c.FPR:
		return c, fmt.Errorf("dleft: FPR: %g, %d bits of remainder give %.3g at best", c.FPR, c.Remainder, bound)
	}
	return c, nil
}

// orTriple takes three subtables with fewer keys to a bucket, if the geometry was
// left open and these meet the rate with cells of 16 bits where the paper's do
// not. That is so for 0.1 %: it costs 3 % more memory than cells of 17 bits and a
// quarter of the time. At that load some bucket overflows at one key in 2e18 that
// are replaced ([Shape.ChurnOverflow]).
func (c Config) orTriple() Config {
	open := c.Subtables == 0 && c.Cells == 0 && c.Load == 0 && c.Remainder == 0
	r := defaultWidth - c.Counter
	if open && c.FPR >= theory.DLeftRateBound(3, tripleLoad, r) && c.FPR < theory.DLeftRateBound(defaultSubtables, defaultFill*defaultCells, r) {
		c.Subtables, c.Load = 3, tripleLoad
	}
	return c
}

const tripleLoad = 5.46

// check reports what no default mends.
func (c Config) check() error {
	p := sizing.In("dleft")
	p.Items(c.Items, sizing.MaxItems)
	if c.FPR != 0 {
		p.Rate(c.FPR, c.Items, sizing.Floor(c.Items))
	}
	if !(c.Load > 0 && c.Load <= float64(c.Cells)) && c.Cells > 0 {
		p.Addf("Load: %g, must be above 0 and at most %d, the cells of a bucket", c.Load, c.Cells)
	}
	rest := Shape{Subtables: c.Subtables, Buckets: 1, Cells: c.Cells, Remainder: max(1, c.Remainder), Counter: c.Counter}
	if c.Remainder < 0 {
		rest.Remainder = c.Remainder
	}
	p.Add(rest.check())
	return p.Err()
}

// remainder chooses the bits of a remainder: at most as many as there can be, even
// if these are too few.
func (c Config) remainder() int {
	least := 1
	for least < maxField && theory.DLeftRateBound(c.Subtables, c.Load, least) > c.FPR {
		least++
	}
	return min(max(least, defaultWidth-c.Counter), maxWidth-c.Counter)
}

// Shape returns the geometry. Buckets are as many as give the load
// with Items keys; they need not be a power of two.
func (c Config) Shape() (Shape, error) {
	c, err := c.withDefaults()
	if err != nil {
		return Shape{}, err
	}
	s := Shape{
		Subtables: c.Subtables,
		Buckets:   uint64(max(1, math.Ceil(float64(c.Items)/(float64(c.Subtables)*c.Load)))),
		Cells:     c.Cells,
		Remainder: c.Remainder,
		Counter:   c.Counter,
		Salt:      c.Salt,
	}
	return s, s.check()
}

// Shape is the geometry of a [Filter]: what papers state and files store.
type Shape struct {
	Subtables int    // d
	Buckets   uint64 // B, in each subtable
	Cells     int    // in each bucket
	Remainder int    // r, bits of a fingerprint that a cell keeps
	Counter   int    // bits of a cell that count equal ones
	Salt      uint64
}

// Bits returns the memory of a filter of this shape, but for the rest of its
// last word.
func (s Shape) Bits() uint64 { return s.cells() * uint64(s.width()) }

// FPR returns the expected rate with n different keys.
func (s Shape) FPR(n uint64) float64 {
	return theory.DLeftRate(float64(n), float64(s.Buckets), s.Remainder)
}

// Predict says what a filter of this shape is like with n different keys: every query
// reads one bucket of each subtable. More keys than cells are ErrFull.
func (s Shape) Predict(n uint64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	if n > s.cells() {
		return filter.Prediction{}, fmt.Errorf("dleft: %d keys in %d cells: %w", n, s.cells(), filter.ErrFull)
	}
	lines := float64(s.Subtables) * linesOf(s.Cells*s.width())
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(float64(64*bitvec.WordsFor(s.Bits())), n),
		FPR:            s.FPR(n),
		HitLines:       lines,
		MissLines:      lines,
	}, nil
}

// linesOf returns how many cache lines a run of bits lies in on average, if runs
// follow each other without gaps: they begin at all multiples of the largest
// power of two in their length.
func linesOf(run int) float64 {
	const line = 512
	step := min(line, run&-run)
	return 1 + float64(run-step)/line
}

// Overflow returns the probability that some key does not find room when n
// different ones are added to an empty filter, if nothing could be moved. With
// moving it is far less.
func (s Shape) Overflow(n uint64) float64 {
	return theory.DLeftInsertOverflow(s.Subtables, s.Cells, float64(s.Buckets), float64(n))
}

// ChurnOverflow returns the probability that some key does not find room while
// a filter with n keys sees so many steps of deleting one and adding another, if
// nothing could be moved.
func (s Shape) ChurnOverflow(n, steps uint64) float64 {
	return theory.DLeftSteadyOverflow(s.Subtables, s.Cells, float64(s.Buckets), float64(n), float64(steps))
}

// words returns the words that all cells take.
func (s Shape) words() uint64 { return bitvec.WordsFor(s.Bits()) }

func (s Shape) width() int { return s.Remainder + s.Counter }

func (s Shape) buckets() uint64 { return uint64(s.Subtables) * s.Buckets }

func (s Shape) cells() uint64 { return s.buckets() * uint64(s.Cells) }

// space returns B·R, the number of fingerprints.
func (s Shape) space() uint64 { return s.Buckets << s.Remainder }

func (s Shape) check() error {
	p := sizing.In("dleft")
	sizing.Between(&p, "Subtables", s.Subtables, 1, maxSubtables)
	sizing.Between(&p, "Cells", s.Cells, 1, maxCells)
	sizing.Between(&p, "Remainder", s.Remainder, 1, maxField)
	sizing.Between(&p, "Counter", s.Counter, 1, maxField)
	sizing.Between(&p, "Buckets", s.Buckets, 1, maxBuckets)
	if p.None() && s.width() > maxWidth {
		p.Addf("Remainder and Counter: %d bits together, at most %d", s.width(), maxWidth)
	}
	if q := bits.Len64(s.Buckets-1) + s.Remainder; p.None() && q > maxSpace {
		p.Addf("Buckets and Remainder: fingerprints of %d bits, at most %d", q, maxSpace)
	}
	return p.Err()
}
