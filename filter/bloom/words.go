package bloom

import (
	"fmt"

	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// What kinds that are made of several filters need: they ask all units at once,
// go by the set bits, and store the units in files of their own.

// Words returns the bits of the filter, bit i being bit i mod 64 of word i/64, 8 words
// for each block of a [Blocked]. They are not a copy: a caller that changes them breaks
// the filter.
func (a *array) Words() []uint64 { return a.words }

// SetBits returns how many bits are set.
func (a *array) SetBits() uint64 { return a.set }

// BlockedFromWords returns the blocked filter of shape s whose bits are words, 8
// for each block. They belong to the filter from then on.
func BlockedFromWords(s BlockedShape, words []uint64) (*Blocked, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if want := s.Blocks * theory.BlockWords; uint64(len(words)) != want {
		return nil, fmt.Errorf("bloom: %d words, want %d for %d blocks", len(words), want, s.Blocks)
	}
	return blockedOver(s, array{words: words, set: bitvec.Vector(words).Count()}), nil
}

// Parts returns how many cache lines there are, and which share of the bits of each is set.
func (a *array) Parts() (n uint64, fill func(i uint64) float64) {
	return (uint64(len(a.words)) + theory.BlockWords - 1) / theory.BlockWords, func(i uint64) float64 {
		words := a.words[i*theory.BlockWords : min((i+1)*theory.BlockWords, uint64(len(a.words)))]
		return float64(bitvec.Vector(words).Count()) / float64(64*len(words))
	}
}
