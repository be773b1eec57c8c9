package evergreen

import (
	"cmp"
	"math"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Config is what is asked for. The zero Config is a filter that holds one false
// positive in a thousand at every size, keeps whole keys, and begins small.
type Config struct {
	// FPR is the rate of false positives that the filter keeps at every size, from
	// 1e-9 to 0.5; 0 means 0.001.
	FPR float64

	// Items is a number of keys for which there is room from the start, and below
	// which the filter does not shrink by itself. Up to 512, and with 0, the filter
	// begins as a list of keys, which takes 8 bytes for each.
	Items uint64

	// Width is how many bits of a key are kept: 24, 32 or 40 for a compact filter,
	// or 56, which together with its place is the whole key; 0 means 56.
	Width int

	// Salt makes filters spread the same keys differently. Compact filters can be
	// merged only with those of equal salt.
	Salt uint64

	// SlowFile is the path of a file to be made for the slow memory, which is
	// mapped; empty means ordinary memory. Queries never touch it. It is scratch
	// space: what is to be kept is written by Snapshot. Close removes it, and so does
	// the collector in its own time. A file that a process left when it was ended is
	// taken over; any other that exists is refused.
	SlowFile string
}

const (
	minFPR   = 1e-9
	maxFPR   = 0.5
	maxItems = 1 << 40

	fullWidth = 64 - lowBits
	minWidth  = 16 // for experiments; a Config offers 24 at least
)

// Shape returns the geometry for the request: the best number of bits per key, by the
// exact mixture over the blocks' loads ([theory.BlockedBits]).
func (c Config) Shape() (Shape, error) {
	c.FPR = cmp.Or(c.FPR, sizing.FPR)
	c.Width = cmp.Or(c.Width, fullWidth)
	p := sizing.In("evergreen")
	p.Items(c.Items, maxItems)
	p.OneOf("Width", c.Width, 24, 32, 40, fullWidth)
	if !checkFPR(&p, c.FPR) {
		return Shape{}, p.Err()
	}
	s := Shape{FPR: c.FPR, Hashes: bestHashes(c.FPR), Width: c.Width, Salt: c.Salt}
	if p.None() && s.Capacity() == 0 {
		p.Addf("Width: %d bits of a key are too few for rate %g", c.Width, c.FPR)
	}
	if p.None() && c.Items > s.Capacity() {
		p.Addf("Items: %d, at most %d with %d bits of a key at rate %g", c.Items, s.Capacity(), c.Width, c.FPR)
	}
	return s, p.Err()
}

// known keeps the hashes of rates that were asked for lately: to find them out takes a
// hundred times as long as to make a small filter. Each rate has one place.
var known [64]atomic.Pointer[struct {
	fpr    float64
	hashes int
}]

// bestHashes returns the best number of bits per key for a rate.
func bestHashes(fpr float64) int {
	place := &known[probe.Step(math.Float64bits(fpr))>>58]
	if k := place.Load(); k != nil && k.fpr == fpr {
		return k.hashes
	}
	_, perWord := theory.BlockedBits(fpr)
	hashes := perWord * theory.BlockWords
	place.Store(&struct {
		fpr    float64
		hashes int
	}{fpr, hashes})
	return hashes
}

func checkFPR(p *sizing.Problems, f float64) bool {
	ok := f >= minFPR && f <= maxFPR
	if !ok {
		p.Addf("FPR: %g, must be %g to %g", f, minFPR, maxFPR)
	}
	return ok
}

// Shape is the geometry of a [Filter]. It has no size: that follows from the keys.
type Shape struct {
	FPR    float64 // the rate that is held
	Hashes int     // bits per key: 8, 16, 24 or 32, evenly over the 8 words of a block
	Width  int     // bits of a fingerprint, a multiple of 8
	Salt   uint64
}

// Exact reports whether whole keys are kept.
func (s Shape) Exact() bool { return s.Width == fullWidth }

// leastBlocks is how many blocks a table has at least. With one fewer, few whole keys
// are stored that are in a list: see list.go.
func (s Shape) leastBlocks(slowFile string) uint64 {
	if s.Exact() && slowFile == "" {
		return minBlocks + 1
	}
	return minBlocks
}

// maxBlocks is how many blocks the bits that are kept of an address can number.
func (s Shape) maxBlocks() uint64 { return min(maxBlocks, uint64(1)<<min(63, lowBits+s.Width)) }

func (s Shape) perWord() int { return s.Hashes / theory.BlockWords }

func (s Shape) check() error {
	p := sizing.In("evergreen")
	checkFPR(&p, s.FPR)
	p.OneOf("Hashes", s.Hashes, 8, 16, 24, 32)
	p.OneOf("Width", s.Width, minWidth, 24, 32, 40, fullWidth)
	return p.Err()
}
