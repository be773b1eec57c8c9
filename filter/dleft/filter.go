package dleft

import (
	"cmp"
	"fmt"
	"iter"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/merging"
	"github.com/everbloom-go/everbloom/internal/sizing"
)

// Filter is a d-left counting Bloom filter.
type Filter struct {
	store
	stick    uint64 // the largest counter; it sticks
	shape    Shape
	capacity uint64 // keys it was made for, 0 if unknown
	tally
	moved uint64 // keys, to make room for others
}

// A tally counts what the cells hold.
type tally struct {
	used   uint64 // cells
	double uint64 // those among them that two values of the hash lead to
	exact  uint64 // copies in cells whose counter can be trusted
	stuck  uint64 // cells whose counter cannot
	vague  uint64 // copies in those: added there and not deleted
}

var (
	_ filter.Deleter     = (*Filter)(nil)
	_ merging.Preparer   = (*Filter)(nil)
	_ filter.Clearer     = (*Filter)(nil)
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
)

var (
	errFull     = fmt.Errorf("dleft: all buckets of the key are full: %w", filter.ErrFull)
	errNotFound = fmt.Errorf("dleft: delete: %w", filter.ErrNotFound)
)

// New returns an empty filter.
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
	words, err := mem.Words(s.words())
	if err != nil {
		return nil, fmt.Errorf("dleft: %w: %w", filter.ErrStorage, err)
	}
	return over(s, words), nil
}

// over returns the filter of shape s whose cells are the words. They must be
// empty, or the caller counts.
func over(s Shape, words []uint64) *Filter {
	return &Filter{store: newStore(s, words), stick: 1<<s.Counter - 1, shape: s}
}

// Add puts k into the set, as often as it is called. It reports whether k looked
// new. The only error is ErrFull.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	return f.add(f.fingerprint(k))
}

func (f *Filter) add(fp uint64) (added bool, err error) {
	if cell, ok := f.seek(fp); ok {
		f.raise(cell, 1, false)
		return false, nil
	}
	if !f.place(fp, 0) {
		return false, errFull
	}
	f.exact++
	return true, nil
}

// raise adds copies to a used cell. At the largest value the counter sticks, at
// once if so asked.
func (f *Filter) raise(cell, copies uint64, stuck bool) {
	remainder, counter := f.get(cell)
	switch {
	case counter == f.stick:
		f.vague += copies
	case stuck || copies >= f.stick-counter:
		f.set(cell, remainder, f.stick)
		f.stuck++
		f.exact -= counter + 1
		f.vague += counter + 1 + copies
	default:
		f.set(cell, remainder, counter+copies)
		f.exact += copies
	}
}

// MayContain reports whether k may be in the set. False is certain.
func (f *Filter) MayContain(k filter.Key) bool {
	if f.short {
		return f.mayContainShort(k)
	}
	return f.hasAny(f.fingerprint(k))
}

// Delete takes one copy of k out of the set. A key that was not added is refused
// with ErrNotFound unless it is a false positive: that takes away a copy of
// another key, which may then be a false negative.
func (f *Filter) Delete(k filter.Key) error {
	fp := f.fingerprint(k)
	cell, ok := f.locate(fp)
	if !ok {
		return errNotFound
	}
	remainder, counter := f.get(cell)
	switch {
	case counter == f.stick && f.vague == 0:
		return errNotFound // all copies that stuck cells ever got are deleted
	case counter == f.stick:
		f.vague--
		return nil
	case counter > 0:
		f.set(cell, remainder, counter-1)
	default:
		f.set(cell, 0, 0)
		f.used--
		f.double -= f.weight(fp)
	}
	f.exact--
	return nil
}

// Clear takes all keys out, and stuck counters with them. It never fails.
func (f *Filter) Clear() error {
	clear(f.words)
	f.tally, f.moved = tally{}, 0
	return nil
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape { return f.shape }

// Len returns the number of keys in the set, each as often as it was added.
func (f *Filter) Len() uint64 { return f.exact + f.vague }

// Info describes the filter as it stands. The rate is that of this very filter,
// with the fingerprints it has. The count of keys is called exact as long as no
// counter is stuck.
func (f *Filter) Info() filter.Info {
	return filter.Info{
		Kind:       "dleft",
		Keys:       f.Len(),
		Exact:      f.stuck == 0,
		Capacity:   f.capacity,
		FastBits:   64 * uint64(len(f.words)),
		FPR:        float64(f.used+f.double) / float64(f.space),
		Fill:       float64(f.used) / float64(f.shape.cells()),
		Overfull:   f.capacity > 0 && f.used > f.capacity,
		Duplicates: filter.DuplicatesCounted,
		Details: []filter.Detail{
			{Name: "keys per bucket", Value: strconv.FormatFloat(float64(f.used)/float64(f.shape.buckets()), 'f', 3, 64)},
			{Name: "stuck counters", Value: strconv.FormatUint(f.stuck, 10)},
		},
	}
}

// Loads gives the subtable of every bucket, from 0, and how many of its cells
// are used: what the fluid limit of [dlCBF06] Sec. 2.3 speaks of.
func (f *Filter) Loads() iter.Seq2[int, int] {
	return func(yield func(subtable, load int) bool) {
		for bucket := range f.shape.buckets() {
			if !yield(int(bucket/f.buckets), int(f.load(bucket))) {
				return
			}
		}
	}
}

// Moved returns how many keys were moved since the filter was made or read,
// because another found all its buckets full. It is 0 at the usual loads: a
// filter where it rises is near the first ErrFull.
func (f *Filter) Moved() uint64 { return f.moved }

// Parts returns how many buckets there are, subtable by subtable, and which share of the cells
// of each is used.
func (f *Filter) Parts() (n uint64, fill func(i uint64) float64) {
	return f.shape.buckets(), func(i uint64) float64 { return float64(f.load(i)) / float64(f.perBucket) }
}

// Places returns the bucket of k in each subtable, counted over all of them, and what of the
// fingerprint is kept there.
func (f *Filter) Places(k filter.Key) (buckets, remainders []uint64) {
	fp := f.fingerprint(k)
	for i := range f.subtables {
		bucket, remainder := f.at(i, fp)
		buckets, remainders = append(buckets, bucket), append(remainders, remainder)
	}
	return buckets, remainders
}
