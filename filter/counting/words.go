package counting

import (
	"fmt"
	"math/bits"

	"github.com/everbloom-go/everbloom/internal/bitvec"
)

// What kinds that are made of several filters need: they ask all units at once,
// go by the counters above zero, and store the units in files of their own.

// Words returns the counters of the filter: counter i has CounterBits bits, from
// bit i·CounterBits mod 64 of word i·CounterBits/64 on. They are not a copy: changing
// them breaks the filter.
func (f *Filter) Words() []uint64 { return f.words }

// SetBits returns how many counters are above zero, which are the set bits of the
// plain filter that [Filter.Bloom] gives.
func (f *Filter) SetBits() uint64 { return f.positive }

// Count returns the number of keys in the set, each as often as it was added, or all
// ones if it is unknown: after an intersection.
func (f *Filter) Count() uint64 {
	if f.counted() {
		return f.keys
	}
	return unknownKeys
}

// FromWords returns the filter of shape s whose counters are words and whose Count
// is keys. The words belong to the filter from then on. A number of keys that
// cannot be true is refused.
func FromWords(s Shape, keys uint64, words []uint64) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if want := bitvec.WordsFor(s.Bits()); uint64(len(words)) != want {
		return nil, fmt.Errorf("counting: %d words, want %d for %d counters", len(words), want, s.Counters)
	}
	f := over(s, words)
	f.keys, f.exact = keys, keys != unknownKeys
	if f.exact && !f.counted() {
		return nil, fmt.Errorf("counting: %d keys, at most %d", f.keys, uint64(maxKeys))
	}
	if err := f.checkKeys(f.recount()); err != nil {
		return nil, err
	}
	return f, nil
}

// checkKeys reports whether the number of keys can be true for counters with the
// given sum, and whether nothing lies behind the last counter. Every Add raises
// the sum by the number of hashes and every Delete lowers it by as much, until a
// counter saturates; from then on nothing follows from the sum.
func (f *Filter) checkKeys(sum uint64) error {
	if last, end := f.words[len(f.words)-1], f.Shape().Bits()%64; end != 0 && last>>end != 0 {
		return fmt.Errorf("counting: bits beyond counter %d are set: %#x", f.counters, last)
	}
	if !f.counted() || f.saturated > 0 {
		return nil
	}
	if hi, want := bits.Mul64(f.keys, uint64(f.hashes)); hi != 0 || want != sum {
		return fmt.Errorf("counting: the sum of all counters is %d, want %d hashes for each of %d keys", sum, f.hashes, f.keys)
	}
	return nil
}

// Parts returns how many words there are, and which share of the counters of each is above
// zero.
func (f *Filter) Parts() (n uint64, fill func(i uint64) float64) {
	return uint64(len(f.words)), func(i uint64) float64 {
		counters := min(64/f.width, f.counters-i*(64/f.width))
		return float64(bits.OnesCount64(f.used(f.words[i]))) / float64(counters)
	}
}
