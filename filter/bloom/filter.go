package bloom

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/theory"
)

// Filter is the standard Bloom filter: m bits, k positions per key anywhere
// among them.
type Filter struct {
	array
	bits   uint64 // m
	hashes int    // k
	mixer  filter.Mixer
	salt   uint64
}

var (
	_ filter.Merger      = (*Filter)(nil)
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
)

// New returns an empty filter for the wish.
func New(c Config) (*Filter, error) {
	s, err := c.Shape()
	if err != nil {
		return nil, err
	}
	f, err := Build(s)
	if err != nil {
		return nil, err
	}
	c, _ = c.withDefaults()
	f.capacity = c.Items
	return f, nil
}

// Build returns an empty filter of exactly this shape.
func Build(s Shape) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	a, err := newArray(bitvec.WordsFor(s.Bits))
	if err != nil {
		return nil, err
	}
	return over(s, a), nil
}

// FromWords returns the filter of shape s whose bits are words, bit i being bit
// i mod 64 of word i/64. They belong to the filter from then on.
func FromWords(s Shape, words []uint64) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if want := bitvec.WordsFor(s.Bits); uint64(len(words)) != want {
		return nil, fmt.Errorf("bloom: %d words, want %d for %d bits", len(words), want, s.Bits)
	}
	f := over(s, array{words: words, set: bitvec.Vector(words).Count()})
	if err := f.checkTail(); err != nil {
		return nil, err
	}
	return f, nil
}

// over returns the filter of shape s whose bits are a.
func over(s Shape, a array) *Filter {
	return &Filter{array: a, bits: s.Bits, hashes: s.Hashes, mixer: filter.NewMixer(s.Salt), salt: s.Salt}
}

// Add puts k into the set. It reports whether k looked new and never fails.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	h := f.mixer.Mix(k)
	var fresh uint64
	for range f.hashes {
		i := filter.Reduce(h, f.bits)
		w := &f.words[i/64]
		fresh += ^*w >> (i % 64) & 1
		*w |= 1 << (i % 64)
		h = filter.Step(h)
	}
	f.set += fresh
	return fresh != 0, nil
}

// MayContain reports whether k may be in the set. False is certain.
//
// Positions are tested four at a time: their cache misses overlap, and where
// absent keys are common the processor is not made to guess which of the first
// few bits will be clear.
func (f *Filter) MayContain(k filter.Key) bool {
	h := f.mixer.Mix(k)
	left := f.hashes
	for ; left >= 4; left -= 4 {
		if f.four(h) == 0 {
			return false
		}
		h = filter.StepBy(h, 4)
	}
	return f.rest(h, left)
}

// four returns 1 if the positions of h and its next three steps are all set.
func (f *Filter) four(h uint64) uint64 {
	return f.one(h) & f.one(filter.Step(h)) & f.one(filter.StepBy(h, 2)) & f.one(filter.StepBy(h, 3))
}

// one returns 1 if the position of h is set.
func (f *Filter) one(h uint64) uint64 {
	i := filter.Reduce(h, f.bits)
	return f.words[i/64] >> (i % 64) & 1
}

// rest reports whether the positions of h and the following steps, left in all,
// are set.
func (f *Filter) rest(h uint64, left int) bool {
	for ; left > 0; left-- {
		if f.one(h) == 0 {
			return false
		}
		h = filter.Step(h)
	}
	return true
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape {
	return Shape{Bits: f.bits, Hashes: f.hashes, Salt: f.salt}
}

// Len returns the estimated number of keys in the set, from the share of set
// bits ([theory.BloomCardinality]). After Intersect it is too high: bits that both
// filters had by chance count, too.
func (f *Filter) Len() uint64 {
	return roundKeys(theory.BloomCardinality(float64(f.bits), float64(f.hashes), float64(f.set)))
}

// Info describes the filter as it stands.
func (f *Filter) Info() filter.Info {
	keys := f.Len()
	fill := float64(f.set) / float64(f.bits)
	return filter.Info{
		Kind:     "bloom",
		Keys:     keys,
		Capacity: f.capacity,
		FastBits: f.bitCount(),
		FPR:      math.Pow(fill, float64(f.hashes)),
		Fill:     fill,
		Overfull: f.overfull(keys),
	}
}
