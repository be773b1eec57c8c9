package evergreen

import (
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

const (
	// lowBits is how many bits of an address every filter has: the lowest of the
	// mixed key. They are known from where a fingerprint is stored, at every size,
	// and so are no part of it.
	lowBits   = 8
	minBlocks = 1 << lowBits

	// maxLevel keeps the number of a block within 32 bits.
	maxLevel  = 32
	maxBlocks = 1<<maxLevel - 1
)

// A mixer spreads keys by a permutation of all 64-bit numbers, so that a key can be
// told from its mixed form. Keys that are hashed need no more than a change with
// the salt; the product is for those that are not.
type mixer struct {
	factor  uint64 // odd
	inverse uint64 // factor times inverse is 1
}

func newMixer(salt uint64) mixer {
	factor := uint64(probe.NewMixer(salt))
	inverse := factor // right in the lowest 3 bits, and each round doubles them
	for range 5 {
		inverse *= 2 - factor*inverse
	}
	return mixer{factor, inverse}
}

func (m mixer) mix(k filter.Key) uint64 { return uint64(k) * m.factor }

// key is the inverse of mix.
func (m mixer) key(mixed uint64) filter.Key { return filter.Key(mixed * m.inverse) }

// addressOf returns the bits of a mixed key in the order in which they become part
// of its address. They begin with the upper bytes, which depend on all bits of the
// key.
func addressOf(mixed uint64) uint64 { return bits.ReverseBytes64(mixed) }

// A fingerprint is what is kept of a mixed key: as many bits as the width says,
// those behind the upper byte.
func fingerprintOf(mixed uint64, width int) uint64 { return mixed << lowBits >> (64 - uint(width)) }

// mixedOf returns what is known of the mixed key of a fingerprint in a block, all
// of it if the width is 56; the other bits are clear.
func mixedOf(fingerprint, block uint64, width int) uint64 {
	return block<<(64-lowBits) | fingerprint<<(fullWidth-uint(width))
}

// addressBit returns the place in fingerprints of bit b of an address, b at least
// lowBits.
func addressBit(b uint, width int) uint { return 56 - b/8*8 + b%8 - (fullWidth - uint(width)) }

// keying is how the keys of a table are stored.
type keying struct {
	mixer mixer
	width int  // of a fingerprint, in bits
	exact bool // fingerprints are whole keys
}

// fingerprint returns what is kept of a mixed key.
func (y *keying) fingerprint(mixed uint64) uint64 { return fingerprintOf(mixed, y.width) }

// alike reports whether two mixed keys have the same fingerprint and lowest bits.
func (y *keying) alike(a, b uint64) bool { return (a^b)>>(fullWidth-uint(y.width)) == 0 }

// A state says how many blocks there are, and in its upper half how many splits and
// merges there have been. It is one word, so that a reader sees both at once.
type state uint64

func (t *table) load() state { return state(t.state.Load()) }

func (s state) blocks() uint64 { return uint64(uint32(s)) }

// step returns the state after a split or a merge.
func (s state) step(blocks uint64) state { return (s>>32+1)<<32 | state(blocks) }

// place returns the block of a mixed key among n.
func place(mixed, n uint64) uint64 { return placeOf(addressOf(mixed), n) }

// placeOf returns the block among n for an address: its lowest bits, as many as the
// largest number below n has, or one fewer if there is no such block yet.
func placeOf(address, n uint64) uint64 {
	mask := ^uint64(0) >> (uint(bits.LeadingZeros64(n)) & 63)
	i := address & mask
	if i >= n {
		i &= mask >> 1
	}
	return i
}

// levelOf returns how many bits of their address the keys of block i share, when
// there are n blocks: those that have been split share one more.
func levelOf(i, n uint64) uint {
	b := uint(bits.Len64(n)) - 1
	base := uint64(1) << b
	if i >= base || i < n-base {
		return b + 1
	}
	return b
}

// split returns the block that is the next to be split when there are n, and the
// bit of the address that tells which keys move to block n.
func split(n uint64) (lower uint64, bit uint) {
	bit = uint(bits.Len64(n)) - 1
	return n - 1<<bit, bit
}
