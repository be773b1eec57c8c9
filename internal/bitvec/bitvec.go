// Package bitvec has vectors of bits that live in plain words.
//
// A [Vector] is only a view of a []uint64, so that its owner decides where the words come from (the heap, a file,
// a part of a larger block) and may read them word by word. Bit i is bit i%64 of word i/64:
//
//	word      0                1
//	bit       0 1 2 ... 63     64 65 ... 127
//
// A Vector does no locking: many may read, or one may write. [Vector.Or], [Vector.And]
// and [Vector.Zero] may run beside readers that use [Load].
package bitvec

import (
	"iter"
	"math/bits"
)

const wordBits = 64

// Vector is a vector of 64*len bits. Its length never changes, and its zero value has no bits.
type Vector []uint64

// WordsFor returns how many words hold the given number of bits.
func WordsFor(bits uint64) uint64 {
	// Not (bits+63)/64, which is wrong within 63 of the largest number.
	n := bits / wordBits
	if bits%wordBits != 0 {
		n++
	}
	return n
}

// Get reports whether bit i is set. It panics if the vector has no bit i.
func (v Vector) Get(i uint64) bool {
	return v[i/wordBits]>>(i%wordBits)&1 != 0
}

// Set sets bit i and reports whether it was clear before. It panics if the vector has no bit i.
func (v Vector) Set(i uint64) bool {
	word := &v[i/wordBits]
	before := *word
	*word = before | 1<<(i%wordBits)
	return before != *word
}

// Clear clears bit i. It panics if the vector has no bit i.
func (v Vector) Clear(i uint64) {
	v[i/wordBits] &^= 1 << (i % wordBits)
}

// Count returns the number of set bits.
func (v Vector) Count() uint64 {
	// Four sums that do not wait for each other keep the population count unit of the processor busy.
	var a, b, c, d uint64
	for len(v) >= 4 {
		a += uint64(bits.OnesCount64(v[0]))
		b += uint64(bits.OnesCount64(v[1]))
		c += uint64(bits.OnesCount64(v[2]))
		d += uint64(bits.OnesCount64(v[3]))
		v = v[4:]
	}
	for _, word := range v {
		a += uint64(bits.OnesCount64(word))
	}
	return a + b + c + d
}

// Ones returns the indexes of the set bits from the given one on, in order.
func (v Vector) Ones(from uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		before := uint64(1)<<(from%wordBits) - 1 // bits of the first word that do not count
		for i := from / wordBits; i < uint64(len(v)); i++ {
			for word := v[i] &^ before; word != 0; word &= word - 1 {
				if !yield(i*wordBits + uint64(bits.TrailingZeros64(word))) {
					return
				}
			}
			before = 0
		}
	}
}

// Or sets every bit that is set in src and returns the number of bits of v that are set afterwards.
// It panics if the vectors differ in length: bits of filters of unequal shapes mean different things.
func (v Vector) Or(src Vector) uint64 {
	mustMatch(v, src)
	var set uint64
	for i, word := range src[:len(v)] {
		word |= v[i]
		Store(&v[i], word)
		set += uint64(bits.OnesCount64(word))
	}
	return set
}

// And clears every bit that is clear in src and returns the number of bits of v that are set afterwards.
// It panics if the vectors differ in length, as Or does.
func (v Vector) And(src Vector) uint64 {
	mustMatch(v, src)
	var set uint64
	for i, word := range src[:len(v)] {
		word &= v[i]
		Store(&v[i], word)
		set += uint64(bits.OnesCount64(word))
	}
	return set
}

// Zero clears all bits.
func (v Vector) Zero() {
	for i := range v {
		Store(&v[i], 0)
	}
}

// mustMatch panics rather than returns an error: filters compare shapes before they merge, so this is a broken invariant.
func mustMatch(v, src Vector) {
	if len(v) != len(src) {
		panic("bitvec: vectors of unequal length")
	}
}
