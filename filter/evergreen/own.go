package evergreen

import (
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// own is the bits of one key of a block that no other key of the block has: those
// that become clear when it is deleted. Two keys have the same bit of a word if they
// agree in the six bits of their patterns that choose it, and these are compared for
// all eight words at once.
type own struct {
	rounds   int
	patterns [theory.MaxPerWord]uint64
	apart    [theory.MaxPerWord]uint64 // has the highest of six bits set where nobody agrees
}

// The lowest of the six bits of each word, the lower five, and the highest. They are
// in the assembly, too.
const (
	lowestOfSix = 1<<16 | 1<<22 | 1<<28 | 1<<34 | 1<<40 | 1<<46 | 1<<52 | 1<<58
	lowerFive   = 31 * lowestOfSix
	highest     = 32 * lowestOfSix
)

// newOwn returns all bits of a fingerprint.
func newOwn(fingerprint uint64, rounds int) own {
	o := own{rounds: rounds}
	p := pattern(fingerprint)
	for i := range rounds {
		o.patterns[i], o.apart[i] = p, highest
		p = probe.Step(p)
	}
	return o
}

// share gives up the bits that another fingerprint has, too.
func (o *own) share(fingerprint uint64) {
	for i, p := range o.patterns[:o.rounds] {
		o.apart[i] &= differ(p, fingerprint, o.rounds)
	}
}

// shareAll gives up the bits that the n fingerprints of a run have. It leaves out the
// first one that equals except, and returns its place, or -1.
func (o *own) shareAll(run []byte, n int, g *geometry, except uint64) (at int) {
	for i, p := range o.patterns[:o.rounds] {
		var apart uint64
		apart, at = g.apart(run, n, p, except, o.rounds)
		o.apart[i] &= apart
	}
	return at
}

// clear clears the bits in a block that nobody else sees.
func (o *own) clear(b *block) {
	for i, p := range o.patterns[:o.rounds] {
		for w := range b {
			shift := 58 - 6*w
			b[w] &^= o.apart[i] >> (shift + 5) & 1 << (p >> shift & 63)
		}
	}
}

// differ returns a number that has the highest of six bits set where a pattern
// differs from all rounds of a fingerprint's, and anything else in its other bits:
// unless all six are equal, the highest differs or the sum of the lower five and 31
// reaches it.
func differ(p, fingerprint uint64, rounds int) uint64 {
	q := pattern(fingerprint)
	x := p ^ q
	all := x&lowerFive + lowerFive | x
	for range rounds - 1 {
		q = probe.Step(q)
		x = p ^ q
		all &= x&lowerFive + lowerFive | x
	}
	return all
}

// portableApart returns where a pattern differs from all rounds of all n fingerprints
// of a run, but for the first one that equals except, and the place of that, or -1.
func (g *geometry) portableApart(run []byte, n int, p, except uint64, rounds int) (apart uint64, at int) {
	apart, at = highest, -1
	for i := range n {
		fp := g.get(run, i)
		if fp == except {
			at, except = i, nothing
			continue
		}
		apart &= differ(p, fp, rounds)
	}
	return apart, at
}
