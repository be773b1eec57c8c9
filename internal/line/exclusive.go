package line

import "encoding/binary"

// NoFingerprint equals no fingerprint.
const NoFingerprint = ^uint64(0)

// maxRounds is how many bits of each word a key has at most.
const maxRounds = 4

// Exclusive is the bits of one key of a block that no other key of the block has: those
// that become clear when it is deleted. Two keys have the same bit of a word if they
// agree in the six bits of their patterns that choose it, and these are compared for
// all eight words at once.
type Exclusive struct {
	rounds   int
	patterns [maxRounds]uint64
	distinct [maxRounds]uint64 // has the highest of six bits set where no other key agrees
}

// The lowest of the six bits of each word, the lower five, and the highest. They are
// in the assembly, too.
const (
	lowestOfSix = 1<<16 | 1<<22 | 1<<28 | 1<<34 | 1<<40 | 1<<46 | 1<<52 | 1<<58
	lowerFive   = 31 * lowestOfSix
	highest     = 32 * lowestOfSix
)

// ExclusiveOf returns all bits of a fingerprint.
func ExclusiveOf(fingerprint uint64, rounds int) Exclusive {
	e := Exclusive{rounds: rounds}
	p := pattern(fingerprint)
	for i := range rounds {
		e.patterns[i], e.distinct[i] = p, highest
		p *= stepFactor
	}
	return e
}

// Share gives up the bits that another fingerprint has, too.
func (e *Exclusive) Share(fingerprint uint64) {
	for i, p := range e.patterns[:e.rounds] {
		e.distinct[i] &= differ(p, fingerprint, e.rounds)
	}
}

// ShareAll gives up the bits that the fingerprints of a run have, but for the first one
// that equals except. It returns the place of that one, or -1.
func (e *Exclusive) ShareAll(r Run, except uint64) (at int) {
	for i, p := range e.patterns[:e.rounds] {
		var distinct uint64
		distinct, at = r.distinct(p, except, e.rounds)
		e.distinct[i] &= distinct
	}
	return at
}

// Clear clears the bits in a block that has no readers.
func (e *Exclusive) Clear(b *Block) {
	for i, p := range e.patterns[:e.rounds] {
		for w := range b {
			shift := 58 - 6*w
			b[w] &^= e.distinct[i] >> (shift + 5) & 1 << (p >> shift & 63)
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
		q *= stepFactor
		x = p ^ q
		all &= x&lowerFive + lowerFive | x
	}
	return all
}

// portableDistinct returns where a pattern differs from all rounds of all fingerprints,
// but for the first one that equals except, and the place of that, or -1.
func (r Run) portableDistinct(p, except uint64, rounds int) (distinct uint64, at int) {
	distinct, at = highest, -1
	width, mask := int(r.width), r.mask()
	for i := range r.Len() {
		fp := binary.LittleEndian.Uint64(r.Bytes[i*width:]) & mask
		if fp == except {
			at, except = i, NoFingerprint
			continue
		}
		distinct &= differ(p, fp, rounds)
	}
	return distinct, at
}
