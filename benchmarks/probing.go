package main

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// A probing is a set of 64-bit hashes by linear probing: what a filter of fingerprints
// competes with where memory is plenty. It is made for a number of hashes and does not grow.
type probing []uint64 // 0 is an empty slot

// probingFill is the share of slots that are taken when all keys are there: 75 bits per key.
const probingFill = 0.85

func newProbing(w request) (set, error) {
	s := make(probing, max(2, uint64(float64(w.n)/probingFill)+1))
	return set{
		add:   func(b block) int { return count(b, func(k []byte) bool { return s.add(xxh3.Hash(k)) }) },
		has:   func(b block) int { return count(b, func(k []byte) bool { return s.has(xxh3.Hash(k)) }) },
		del:   func(b block) int { return count(b, func(k []byte) bool { return s.del(xxh3.Hash(k)) }) },
		reset: func() { clear(s) },
		bits:  func() uint64 { return 64 * uint64(len(s)) },
	}, nil
}

// home returns the first slot that may hold h, and h as it is stored: never as 0.
func (s probing) home(h uint64) (i, stored uint64) {
	h = max(h, 1)
	i, _ = bits.Mul64(h, uint64(len(s)))
	return i, h
}

// after returns the slot behind i.
func (s probing) after(i uint64) uint64 {
	if i++; i == uint64(len(s)) {
		return 0
	}
	return i
}

// find returns the slot that holds h, or the empty one that ends the search.
func (s probing) find(h uint64) (i, stored uint64, found bool) {
	i, h = s.home(h)
	for s[i] != h && s[i] != 0 {
		i = s.after(i)
	}
	return i, h, s[i] == h
}

// add stores h. There are more slots than keys, so that a search ends.
func (s probing) add(h uint64) bool {
	i, h, _ := s.find(h)
	s[i] = h
	return true
}

func (s probing) has(h uint64) bool {
	_, _, found := s.find(h)
	return found
}

// del takes h out and moves hashes behind it forward, so that no search ends too early.
func (s probing) del(h uint64) bool {
	hole, _, found := s.find(h)
	if !found {
		return false
	}
	for i := s.after(hole); s[i] != 0; i = s.after(i) {
		// The hash may move unless its home lies behind the hole, on the way round to i.
		if home, _ := s.home(s[i]); s.steps(home, i) >= s.steps(hole, i) {
			s[hole] = s[i]
			hole = i
		}
	}
	s[hole] = 0
	return true
}

// steps returns how many slots lie from i to j.
func (s probing) steps(i, j uint64) uint64 {
	if j < i {
		j += uint64(len(s))
	}
	return j - i
}
