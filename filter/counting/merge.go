package counting

import (
	"fmt"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// maxKeys is how far keys are counted; beyond it their number is estimated. Only
// merging a filter with itself over and over, or a forged file, comes that far.
const maxKeys = 1 << 62

// counted reports whether the number of keys is known.
func (f *Filter) counted() bool { return f.exact && f.keys <= maxKeys }

// Union adds what is in other, a *Filter of equal shape. The result is the same,
// counter for counter, as if all keys had been added to f: each is in the set as
// often as in both operands together, and may be deleted as often.
func (f *Filter) Union(other filter.Filter) error {
	return merging.Union(f, other)
}

// PrepareUnion compares the shapes, which is all that can fail, and returns the
// function that adds the counters.
func (f *Filter) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	return merging.Prepare(f, other, func(o *Filter) {
		f.exact = f.counted() && o.counted()
		f.keys += o.keys
		f.merge(o, f.add)
	})
}

// Intersect keeps what is in both f and other, a *Filter of equal shape: each key
// as often as in the operand that has fewer of it, and as often it may be deleted.
//
// Some counters then count more than the common keys, so that keys of one operand
// only, and common ones after their last Delete, may get more yeses than the
// rate says. Deleting a key that was in one operand only is as harmful as
// deleting one that was never added.
func (f *Filter) Intersect(other filter.Filter) error {
	o, err := merging.Peer(f, other)
	if err != nil || o == f {
		return err
	}
	f.merge(o, f.least)
	f.exact = f.positive == 0
	f.keys = 0
	return nil
}

// merge combines the counters of f and o, word by word.
func (f *Filter) merge(o *Filter, combine func(x, y uint64) uint64) {
	theirs := o.words[:len(f.words)]
	for i, x := range f.words {
		f.words[i] = combine(x, theirs[i])
	}
	f.capacity = max(f.capacity, o.capacity)
	f.recount()
}

// recount finds out how many counters are above zero and how many saturated, and
// returns the sum of all.
func (f *Filter) recount() (sum uint64) {
	f.positive, f.saturated = 0, 0
	for _, x := range f.words {
		f.positive += uint64(bits.OnesCount64(f.used(x)))
		f.saturated += uint64(bits.OnesCount64(f.full(x)))
		sum += f.sum(x)
	}
	return sum
}

// Bloom returns the plain filter in which a bit is set where a counter is above
// zero: the same answers for one bit per counter. It is bit for bit the
// [bloom.Filter] to which the keys of the set were added, unless counters are
// saturated or the set was intersected: then more bits may be set.
func (f *Filter) Bloom() (*bloom.Filter, error) {
	words, err := mem.Words(bitvec.WordsFor(f.counters))
	if err != nil {
		return nil, fmt.Errorf("counting: %w: %w", filter.ErrStorage, err)
	}
	perWord := 64 / f.width
	for i, x := range f.words {
		first := uint64(i) * perWord
		words[first/64] |= f.gather(x) << (first % 64)
	}
	return bloom.FromWords(f.Shape().plain(), words)
}

// gather returns one bit for each lane, set where the lane is not zero.
func (l lanes) gather(x uint64) (set uint64) {
	for used := l.used(x); used != 0; used &= used - 1 {
		set |= 1 << (uint64(bits.TrailingZeros64(used)) / l.width)
	}
	return set
}
