package evergreen

import (
	"math/bits"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// This file is the portable form of what line_amd64.s does: the meaning of the
// bits, and the code wherever assembly is missing. Readers come without a lock, so
// words are read and written atomically here.

// A block is one cache line. Word w of it takes part in every key's pattern: round
// by round one bit, chosen by the w-th six bits of the round's 64, from the top.
type block [theory.BlockWords]uint64

// patternFactor is the multiplier of [probe.Step], moved up.
const patternFactor = 0xD1342543DE82EF95 << 8 % (1 << 64)

// pattern returns the 64 bits of the first round's pattern for a fingerprint. The
// fingerprints of a block have upper bits in common, and the lower ones move all
// bits of the product that matter.
func pattern(fingerprint uint64) uint64 { return fingerprint * patternFactor }

// portableHas tests all words without a branch: guessing where a test will fail
// costs more than the tests.
func (b *block) portableHas(fingerprint uint64, rounds int) bool {
	p := pattern(fingerprint)
	all := uint64(1)
	for range rounds {
		for w := range b {
			all &= atomic.LoadUint64(&b[w]) >> (p >> (58 - 6*w) & 63)
		}
		p = probe.Step(p)
	}
	return all != 0
}

// portableAdd sets the bits of a fingerprint and reports whether any of them was
// clear. The caller is the only writer.
func (b *block) portableAdd(fingerprint uint64, rounds int) (fresh bool) {
	var mask block
	mask.mark(fingerprint, rounds)
	for w := range b {
		if old := atomic.LoadUint64(&b[w]); old|mask[w] != old {
			atomic.StoreUint64(&b[w], old|mask[w])
			fresh = true
		}
	}
	return fresh
}

// mark sets the bits of a fingerprint in a block that nobody else sees.
func (b *block) mark(fingerprint uint64, rounds int) {
	p := pattern(fingerprint)
	for range rounds {
		for w := range b {
			b[w] |= 1 << (p >> (58 - 6*w) & 63)
		}
		p = probe.Step(p)
	}
}

// nothing is no fingerprint.
const nothing = ^uint64(0)

// portableCollect sets the bits of the first n fingerprints of a run in a block
// that nobody else sees.
func (b *block) portableCollect(run []byte, n int, g *geometry, rounds int) {
	for i := range n {
		b.mark(g.get(run, i), rounds)
	}
}

// portableStore gives every word its final value at once.
func (b *block) portableStore(value *block) {
	for w := range b {
		if atomic.LoadUint64(&b[w]) != value[w] {
			atomic.StoreUint64(&b[w], value[w])
		}
	}
}

// unite sets all bits that are set in other.
func (b *block) unite(other *block) {
	sum := *other // of which the caller is the only writer, too
	for w := range b {
		sum[w] |= b[w]
	}
	b.store(&sum)
}

// ones returns the number of set bits of a block that nobody changes.
func (b *block) ones() (n uint64) {
	for _, w := range b {
		n += uint64(bits.OnesCount64(w))
	}
	return n
}
