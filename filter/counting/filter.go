package counting

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/merging"
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Filter is a counting Bloom filter: m counters, k of which every Add of a key
// counts up and every Delete counts down.
type Filter struct {
	words []uint64
	lanes
	counters uint64 // m
	hashes   int    // k
	mixer    probe.Mixer
	salt     uint64

	positive  uint64 // counters above zero
	saturated uint64 // counters at the top, which stay there

	keys     uint64 // Adds less Deletes; means nothing unless exact
	exact    bool
	capacity uint64 // keys it was made for, 0 if unknown
}

var (
	_ filter.Deleter     = (*Filter)(nil)
	_ merging.Preparer   = (*Filter)(nil)
	_ filter.Clearer     = (*Filter)(nil)
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
)

// New returns an empty filter for c.
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
	words, err := mem.Words(bitvec.WordsFor(s.Bits()))
	if err != nil {
		return nil, fmt.Errorf("counting: %w: %w", filter.ErrStorage, err)
	}
	return over(s, words), nil
}

// over returns the filter of shape s whose counters are words, all of them zero.
func over(s Shape, words []uint64) *Filter {
	return &Filter{
		words: words, lanes: lanesOf(s.CounterBits), counters: s.Counters, hashes: s.Hashes,
		mixer: probe.NewMixer(s.Salt), salt: s.Salt, exact: true,
	}
}

// place returns where the counter of h begins: in which word, at which bit of it.
func place(h, counters, width uint64) (word, bit uint64) {
	i := probe.Reduce(h, counters) * width
	return i / 64, i % 64
}

// Add puts k into the set, once more if it is there. It reports whether k looked
// new and never fails.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	// Variables, because the compiler reads fields again after each store.
	words, counters, width, top := f.words, f.counters, f.width, f.top
	h := f.mixer.Mix(k)
	var fresh uint64
	for range f.hashes {
		word, bit := place(h, counters, width)
		w := &words[word]
		value := *w >> bit & top
		fresh += (value - 1) >> 63 // 1 if the counter was zero
		switch {
		case value < top-1:
			*w += 1 << bit
		case value < top:
			*w += 1 << bit
			f.saturated++
		}
		h = probe.Step(h)
	}
	f.positive += fresh
	f.keys++
	return fresh != 0, nil
}

// MayContain reports whether k may be in the set. False is certain.
//
// Positions are tested several at a time, so that their cache misses overlap and
// the processor need not guess which of the first few counters will be zero: two at
// first, which is the end for three absent keys in four and saves the memory two
// lines, then four. It is all written out: with calls of four and rest it takes a
// quarter longer.
func (f *Filter) MayContain(k filter.Key) bool {
	h := f.mixer.Mix(k)
	left := f.hashes
	if left >= 2 {
		if f.one(h)|f.one(probe.Step(h)) < 0 {
			return false
		}
		h = probe.StepBy(h, 2)
		left -= 2
	}
	for ; left >= 4; left -= 4 {
		if f.one(h)|f.one(probe.Step(h))|f.one(probe.StepBy(h, 2))|f.one(probe.StepBy(h, 3)) < 0 {
			return false
		}
		h = probe.StepBy(h, 4)
	}
	var all int64
	for ; left > 0; left-- {
		all |= f.one(h)
		h = probe.Step(h)
	}
	return all >= 0
}

// Predict says what a filter of this shape is like with n different keys, each
// added once.
func (s Shape) Predict(n uint64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	fill := theory.BloomFill(float64(s.Counters), float64(s.Hashes), float64(n))
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(float64(64*bitvec.WordsFor(s.Bits())), n),
		FPR:            s.FPR(n),
		HitLines:       float64(s.Hashes),
		MissLines:      probe.MissLines(s.Hashes, fill, s.group),
	}, nil
}

// group returns how many positions [Filter.MayContain] tests together when so many
// are left.
func (s Shape) group(left int) int {
	if left == s.Hashes {
		return min(2, left)
	}
	return min(4, left)
}

// one is negative if the counter of h is zero.
func (f *Filter) one(h uint64) int64 {
	word, bit := place(h, f.counters, f.width)
	return int64(f.words[word]>>bit&f.top) - 1
}

// four is negative if the counter of h or of one of its next three steps is zero.
func (f *Filter) four(h uint64) int64 {
	return f.one(h) | f.one(probe.Step(h)) | f.one(probe.StepBy(h, 2)) | f.one(probe.StepBy(h, 3))
}

// rest is negative if the counter of h or of one of the following steps, left in
// all, is zero.
func (f *Filter) rest(h uint64, left int) (all int64) {
	for ; left > 0; left-- {
		all |= f.one(h)
		h = probe.Step(h)
	}
	return all
}

// errAbsent is made once, so that a refused Delete allocates nothing.
var errAbsent = fmt.Errorf("counting: delete: %w", filter.ErrNotFound)

// Delete takes k out of the set once. It fails with ErrNotFound, and changes
// nothing, if k is certainly not in the set.
//
// Never delete a key that was not added, or more often than it was added: if it
// looks present by chance, Delete takes what belongs to other keys, and these
// may be lost from then on. Asking MayContain before is no protection: it errs
// in the same cases.
func (f *Filter) Delete(k filter.Key) error {
	// Saturated counters alone would go on saying yes after the last key has gone.
	if f.exact && f.keys == 0 {
		return errAbsent
	}
	words, counters, width, top := f.words, f.counters, f.width, f.top
	h := f.mixer.Mix(k)
	var gone uint64
	for i := range f.hashes {
		word, bit := place(h, counters, width)
		w := &words[word]
		value := *w >> bit & top
		if value == 0 {
			f.giveBack(f.mixer.Mix(k), i)
			return errAbsent
		}
		if value < top {
			*w -= 1 << bit
			gone += (value - 2) >> 63 // 1 if the counter is zero now
		}
		h = probe.Step(h)
	}
	f.positive -= gone
	f.keys--
	return nil
}

// giveBack undoes what Delete did to the first n positions of h, when the next
// one is at zero: because the key is absent, or because more of its positions
// coincide in a counter than the counter has. What was counted down is at least
// two below the top, and cannot be mistaken for saturated.
func (f *Filter) giveBack(h uint64, n int) {
	for range n {
		word, bit := place(h, f.counters, f.width)
		if w := &f.words[word]; *w>>bit&f.top != f.top {
			*w += 1 << bit
		}
		h = probe.Step(h)
	}
}

// Clear takes all keys out, and saturated counters with them. It never fails.
func (f *Filter) Clear() error {
	clear(f.words)
	f.positive, f.saturated = 0, 0
	f.keys, f.exact = 0, true
	return nil
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape {
	return Shape{Counters: f.counters, Hashes: f.hashes, CounterBits: int(f.width), Salt: f.salt}
}

// Len returns the number of keys in the set, each as often as it was added. After
// an intersection it is the estimated number of different keys.
func (f *Filter) Len() uint64 {
	if f.counted() {
		return f.keys
	}
	return f.different()
}

// different estimates the number of different keys from the share of counters
// above zero ([theory.BloomCardinality]).
func (f *Filter) different() uint64 {
	return sizing.RoundKeys(theory.BloomCardinality(float64(f.counters), float64(f.hashes), float64(f.positive)))
}

// overfull goes by different keys, since copies do not raise the rate. It allows
// the estimate five times its spread, so that a filter with exactly the keys it
// was made for does not complain.
func (f *Filter) overfull() bool {
	limit := float64(f.capacity) * (1 + 5/math.Sqrt(float64(f.counters)))
	return f.capacity > 0 && float64(f.different()) > limit
}

// Info describes the filter as it stands. Its detail "saturated counters" says how
// many will never be counted down again.
func (f *Filter) Info() filter.Info {
	fill := float64(f.positive) / float64(f.counters)
	return filter.Info{
		Kind:       "counting",
		Keys:       f.Len(),
		Exact:      f.counted(),
		Capacity:   f.capacity,
		FastBits:   64 * uint64(len(f.words)),
		FPR:        math.Pow(fill, float64(f.hashes)),
		Fill:       fill,
		Overfull:   f.overfull(),
		Duplicates: filter.DuplicatesCounted,
		Details:    []filter.Detail{{Name: "saturated counters", Value: strconv.FormatUint(f.saturated, 10)}},
	}
}
