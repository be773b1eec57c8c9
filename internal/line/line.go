// Package line handles blocks of 512 bits, each one cache line, that have the bits of
// keys, and runs of fingerprints, from which the bits follow.
//
// Each of the 8 words of a [Block] takes part in the pattern of every key: round by
// round one bit, chosen by six bits of the round's 64, from the top:
//
//	round  | 6 | 6 | 6 | 6 | 6 | 6 | 6 | 6 | 16 not used |
//	word     0   1   2   3   4   5   6   7
//
// The next round has the same 64 bits times an odd constant. On amd64 with AVX2 or
// AVX-512 all words are handled at once, in assembly; [CPU] says which instructions
// there are. The macros in line_amd64.h serve the lookups of the kinds, too. Build with
// the tag purego to go without assembly.
//
// Readers come without a lock: words are read and written atomically, or whole by the
// assembly, which x86 keeps in order.
package line

import (
	"math/bits"
	"sync/atomic"
)

// A Level says which instructions the assembly may use.
type Level uint8

// The levels, each of which includes those before.
const (
	Portable Level = iota
	AVX2
	AVX512
)

// CPU is the level of this machine. It is a variable only so that tests can go through
// all levels that there are: see linetest.
var CPU = Best()

// Words is how many words a block has.
const Words = 8

// A Block is one cache line.
type Block [Words]uint64

const (
	stepFactor = 0xD1342543DE82EF95 // that of probe.Step

	// patternFactor is stepFactor, moved up.
	patternFactor = stepFactor << 8 % (1 << 64)
)

// pattern returns the 64 bits of the first round for a fingerprint. The fingerprints
// of a block have upper bits in common, and the lower ones move all bits of the
// product that matter.
func pattern(fingerprint uint64) uint64 { return fingerprint * patternFactor }

// portableHas tests all words without a branch: guessing where a test will fail
// costs more than the tests.
func (b *Block) portableHas(fingerprint uint64, rounds int) bool {
	p := pattern(fingerprint)
	all := uint64(1)
	for range rounds {
		for w := range b {
			all &= atomic.LoadUint64(&b[w]) >> (p >> (58 - 6*w) & 63)
		}
		p *= stepFactor
	}
	return all != 0
}

func (b *Block) portableAdd(fingerprint uint64, rounds int) (fresh bool) {
	var mask Block
	mask.Mark(fingerprint, rounds)
	for w := range b {
		if old := atomic.LoadUint64(&b[w]); old|mask[w] != old {
			atomic.StoreUint64(&b[w], old|mask[w])
			fresh = true
		}
	}
	return fresh
}

func (b *Block) portableStore(value *Block) {
	for w := range b {
		if atomic.LoadUint64(&b[w]) != value[w] {
			atomic.StoreUint64(&b[w], value[w])
		}
	}
}

func (b *Block) portableCollect(r Run, rounds int) {
	for i := range r.Len() {
		b.Mark(r.At(i), rounds)
	}
}

// Mark sets the bits of a fingerprint in a block that has no readers yet.
func (b *Block) Mark(fingerprint uint64, rounds int) {
	p := pattern(fingerprint)
	for range rounds {
		for w := range b {
			b[w] |= 1 << (p >> (58 - 6*w) & 63)
		}
		p *= stepFactor
	}
}

// Unite sets all bits that are set in other. The caller is the only writer of both.
func (b *Block) Unite(other *Block) {
	sum := *other
	for w := range b {
		sum[w] |= b[w]
	}
	b.Store(&sum)
}

// Ones returns the number of set bits of a block that does not change meanwhile.
func (b *Block) Ones() (n uint64) {
	for _, w := range b {
		n += uint64(bits.OnesCount64(w))
	}
	return n
}
