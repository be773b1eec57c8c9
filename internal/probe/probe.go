// Package probe turns a key into the positions that a filter looks at.
//
// A [Mixer] makes 64 bits of a key, [Step] makes the next 64 of these, and [Reduce]
// maps them onto the positions of a filter. Files depend on the values of all of
// them: they never change.
package probe

import (
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
)

const (
	// mixMultiplier is 2^64 divided by the golden ratio, made odd.
	mixMultiplier = 0x9E3779B97F4A7C15

	// stepMultiplier generates the sequence of positions. It is one of the
	// multipliers that Steele and Vigna found good in dimensions 2 to 8
	// ("Computationally easy, spectrally good multipliers", 2022).
	stepMultiplier = 0xD1342543DE82EF95
)

// A Mixer turns Keys into the 64 bits from which a filter takes positions, by
// [Step] and [Reduce]. Two mixers made with different salts spread the same
// keys differently. Files depend on the values: they never change.
type Mixer uint64

// NewMixer returns the mixer of a salt.
//
// It is odd, and its upper 16 bits are the same for every salt: multipliers near
// a simple fraction of 2^64 would map all keys to a few places.
func NewMixer(salt uint64) Mixer {
	return Mixer(mixMultiplier ^ salt*stepMultiplier>>17<<1)
}

// Mix returns the bits of k. It is one full multiplication, folded: enough for
// keys that are hashed, and forgiving towards keys that are small integers.
func (m Mixer) Mix(k filter.Key) uint64 {
	hi, lo := bits.Mul64(uint64(k)^uint64(m), uint64(m))
	return hi ^ lo
}

// Step returns the successor of h in the sequence that [Mixer.Mix] begins.
// The upper bits are the good ones.
func Step(h uint64) uint64 { return h * stepMultiplier }

// StepBy returns the n-th successor of h, for n from 0 to 4, without going
// through those between.
func StepBy(h uint64, n int) uint64 { return h * stepPowers[n] }

// stepPowers holds the powers of stepMultiplier.
var stepPowers = [5]uint64{
	1,
	stepMultiplier,
	stepMultiplier * stepMultiplier % (1 << 64),
	stepMultiplier * stepMultiplier * stepMultiplier % (1 << 64),
	stepMultiplier * stepMultiplier * stepMultiplier * stepMultiplier % (1 << 64),
}

// Reduce maps h, by its upper bits, evenly onto [0, n).
func Reduce(h, n uint64) uint64 {
	hi, _ := bits.Mul64(h, n)
	return hi
}
