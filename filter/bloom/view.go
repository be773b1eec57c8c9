package bloom

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// View is what queries see of a standard filter: the bits, whoever keeps them,
// and where in them a key belongs. Kinds that have other memory beside such bits
// answer through it.
type View struct {
	cells  []uint64
	size   uint64 // m
	hashes int    // k
	mixer  probe.Mixer
}

// NewView returns the view of bits of shape s, bit i being bit i mod 64 of word
// i/64. It panics unless there are as many words as s needs.
func NewView(s Shape, words []uint64) View {
	if want := bitvec.WordsFor(s.Bits); uint64(len(words)) != want {
		panic(fmt.Sprintf("bloom: view of %d words, want %d for %d bits", len(words), want, s.Bits))
	}
	return View{cells: words, size: s.Bits, hashes: s.Hashes, mixer: probe.NewMixer(s.Salt)}
}

// MayContain reports whether k may be in the set. False is certain.
//
// Positions are tested four at a time: their cache misses overlap, and where
// absent keys are common the processor is not made to guess which of the first
// few bits will be clear.
func (v *View) MayContain(k filter.Key) bool {
	h := v.mixer.Mix(k)
	left := v.hashes
	for ; left >= 4; left -= 4 {
		if v.four(h) == 0 {
			return false
		}
		h = probe.StepBy(h, 4)
	}
	return v.rest(h, left)
}

// four returns 1 if the positions of h and its next three steps are all set.
func (v *View) four(h uint64) uint64 {
	return v.one(h) & v.one(probe.Step(h)) & v.one(probe.StepBy(h, 2)) & v.one(probe.StepBy(h, 3))
}

// one returns 1 if the position of h is set.
func (v *View) one(h uint64) uint64 {
	i := probe.Reduce(h, v.size)
	return bitvec.Load(&v.cells[i/64]) >> (i % 64) & 1
}

// rest reports whether the positions of h and the following steps, left in all,
// are set.
func (v *View) rest(h uint64, left int) bool {
	for ; left > 0; left-- {
		if v.one(h) == 0 {
			return false
		}
		h = probe.Step(h)
	}
	return true
}

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
// shorter than keys.
//
// The first positions of a whole stride are tested before any answer is looked
// at, so that their cache misses overlap.
func (v *View) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	var mixed, all [stride]uint64
	width := min(v.hashes, 4)
	for len(keys) > 0 {
		n := min(stride, len(keys))
		for i, k := range keys[:n] {
			mixed[i] = v.mixer.Mix(k)
			all[i] = v.some(mixed[i], width)
		}
		for i := range n {
			out[i] = all[i] != 0 && v.rest(probe.StepBy(mixed[i], width), v.hashes-width)
		}
		keys, out = keys[n:], out[n:]
	}
}

// some returns 1 if the positions of h and the following steps, 1 to 4 in all,
// are set.
func (v *View) some(h uint64, width int) uint64 {
	if width == 4 {
		return v.four(h)
	}
	all := v.one(h)
	for range width - 1 {
		h = probe.Step(h)
		all &= v.one(h)
	}
	return all
}
