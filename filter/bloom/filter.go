package bloom

import (
	"cmp"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Filter is the standard Bloom filter: m bits, k positions per key anywhere
// among them.
type Filter struct {
	array
	size   uint64 // m
	hashes int    // k
	mixer  probe.Mixer
	salt   uint64
}

var (
	_ filter.Merger      = (*Filter)(nil)
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
	_ filter.LockFree    = (*Filter)(nil)
	_ filter.Clearer     = (*Filter)(nil)
)

// LockFreeReaders marks the filter as safe to read beside one writer: Add and Union
// only set bits, and Intersect keeps all bits of the keys that are in both.
func (f *Filter) LockFreeReaders() {}

// New returns an empty filter for the config.
func New(c Config) (*Filter, error) {
	f, err := sizing.New(c.Shape, Build)
	if err == nil {
		f.capacity = cmp.Or(c.Items, sizing.Items)
	}
	return f, err
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
	return &Filter{array: a, size: s.Bits, hashes: s.Hashes, mixer: probe.NewMixer(s.Salt), salt: s.Salt}
}

// Add puts k into the set. It reports whether k looked new and never fails.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	h := f.mixer.Mix(k)
	var fresh uint64
	for range f.hashes {
		i := probe.Reduce(h, f.size)
		w := &f.words[i/64]
		fresh += ^*w >> (i % 64) & 1
		bitvec.Store(w, *w|1<<(i%64))
		h = probe.Step(h)
	}
	f.set += fresh
	return fresh != 0, nil
}

// MayContain reports whether k may be in the set. False is certain.
func (f *Filter) MayContain(k filter.Key) bool {
	return probe.All(f.words, f.size, f.mixer.Mix(k), f.hashes)
}

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
// shorter than keys.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	probe.Batch(f.words, f.size, f.mixer, f.hashes, keys, out)
}

// Predict says what a filter of this shape is like with n keys.
func (s Shape) Predict(n uint64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	fill := theory.BloomFill(float64(s.Bits), float64(s.Hashes), float64(n))
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(float64(64*bitvec.WordsFor(s.Bits)), n),
		FPR:            s.FPR(n),
		HitLines:       float64(s.Hashes),
		MissLines:      probe.MissLines(s.Hashes, fill, probe.Group),
	}, nil
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape {
	return Shape{Bits: f.size, Hashes: f.hashes, Salt: f.salt}
}

// Len returns the estimated number of keys in the set, from the share of set
// bits ([theory.BloomCardinality]). After Intersect it is too high: bits that both
// filters had by chance count, too.
func (f *Filter) Len() uint64 {
	return sizing.RoundKeys(theory.BloomCardinality(float64(f.size), float64(f.hashes), float64(f.set)))
}

// Info describes the filter as it stands.
func (f *Filter) Info() filter.Info {
	keys := f.Len()
	fill := float64(f.set) / float64(f.size)
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
