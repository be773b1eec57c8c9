package elastic

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// A fast is the bit array A at one size, a power of two. Readers use it while writers
// change it: words are read and written atomically, each by the goroutine that holds
// its stripe. Once another one has taken its place it never changes again, so that a
// late reader finds in it all keys that were there.
type fast struct {
	words  []uint64
	mask   uint64     // size - 1
	blocks [][]uint64 // of the slow memory at this size, to ask for what will be needed
}

// newFast returns an array of so many clear bits.
func newFast(size uint64) (*fast, error) {
	words, err := mem.Words(bitvec.WordsFor(size))
	if err != nil {
		return nil, fmt.Errorf("elastic: %w: %w", filter.ErrStorage, err)
	}
	return &fast{words: words, mask: size - 1}, nil
}

func (a *fast) size() uint64 { return a.mask + 1 }

// number returns the hash number that a state of the generator stands for, before
// it is cut to w bits. The upper bits of the state are the good ones and become
// the lowest, which the index is made of.
func number(h uint64) uint64 { return bits.ReverseBytes64(h) }

// one returns 1 if the bit of h is set.
func one(words []uint64, mask, h uint64) uint64 {
	i := number(h) & mask
	return atomic.LoadUint64(&words[i/64]) >> (i % 64) & 1
}

// rest reports whether the bits of h and its next steps, left in all, are set.
func (a *fast) rest(h uint64, left int) bool {
	words, mask := a.words, a.mask
	for ; left > 0; left-- {
		if one(words, mask, h) == 0 {
			return false
		}
		h = probe.Step(h)
	}
	return true
}

// four returns 1 if the bits of h and its next three steps are all set.
func four(words []uint64, mask, h uint64) uint64 {
	return one(words, mask, h) & one(words, mask, probe.Step(h)) &
		one(words, mask, probe.StepBy(h, 2)) & one(words, mask, probe.StepBy(h, 3))
}

// has reports whether bit i is set.
func (a *fast) has(i uint64) bool { return a.words[i/64]>>(i%64)&1 != 0 }

// set sets bit i and returns 1 if it was clear.
func (a *fast) set(i uint64) int64 {
	w, bit := &a.words[i/64], uint64(1)<<(i%64)
	if *w&bit != 0 {
		return 0
	}
	atomic.StoreUint64(w, *w|bit)
	return 1
}

// clear clears bit i and returns 1 if it was set.
func (a *fast) clear(i uint64) int64 {
	w, bit := &a.words[i/64], uint64(1)<<(i%64)
	if *w&bit == 0 {
		return 0
	}
	atomic.StoreUint64(w, *w&^bit)
	return 1
}

// clearSome clears the bits of a word that are in the mask. All of them are set.
func (a *fast) clearSome(word, mask uint64) {
	if mask != 0 {
		atomic.StoreUint64(&a.words[word], a.words[word]&^mask)
	}
}

// double makes both halves of d, which has twice the size, equal to a.
func (a *fast) double(d *fast) {
	if a.size() < 64 {
		d.words[0] = a.words[0] | a.words[0]<<a.size()
		return
	}
	copy(d.words, a.words)
	copy(d.words[len(a.words):], a.words)
}

// halve returns an array of half the size with the bits of both halves of a.
func (a *fast) halve() (*fast, error) {
	h, err := newFast(a.size() / 2)
	if err != nil {
		return nil, err
	}
	if a.size() <= 64 {
		h.words[0] = (a.words[0] | a.words[0]>>h.size()) & (1<<h.size() - 1)
		return h, nil
	}
	for i := range h.words {
		h.words[i] = a.words[i] | a.words[i+len(h.words)]
	}
	return h, nil
}

func (a *fast) count() uint64 { return bitvec.Vector(a.words).Count() }
