package dleft

import (
	"fmt"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/merging"
	"github.com/everbloom-go/everbloom/internal/packed"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// Filter is a d-left counting Bloom filter.
type Filter struct {
	table
	mixer     probe.Mixer
	space     uint64 // B·R, the number of fingerprints
	paths     [maxSubtables]permutation
	buckets   uint64 // in each subtable
	subtables uint64
	short     bool   // has and MayContain may go the short way
	quick     quick  // if so, for MayContain
	stick     uint64 // the largest counter; it sticks
	shape     Shape
	capacity  uint64 // keys it was made for, 0 if nobody said
	tally

	// For experiments: whether nothing may be moved to make room, and how often
	// that was done.
	rigid bool
	moved uint64
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
	n, err := packed.WordsFor(s.cells(), s.width())
	if err != nil {
		return nil, fmt.Errorf("dleft: %w", err)
	}
	words, err := mem.Words(n)
	if err != nil {
		return nil, fmt.Errorf("dleft: %w: %w", filter.ErrStorage, err)
	}
	return over(s, words)
}

// over returns the filter of shape s whose cells are the words. They must be
// empty, or the caller counts.
func over(s Shape, words []uint64) (*Filter, error) {
	t, err := newTable(s, words)
	if err != nil {
		return nil, fmt.Errorf("dleft: %w", err)
	}
	f := &Filter{
		table:     t,
		short:     t.twins != nil && (s.Subtables == 3 || s.Subtables == 4),
		space:     s.space(),
		subtables: uint64(s.Subtables),
		buckets:   s.Buckets,
		paths:     permutations(s.Subtables, s.space(), s.Salt),
		mixer:     probe.NewMixer(s.Salt),
		stick:     1<<s.Counter - 1,
		shape:     s,
	}
	if f.short {
		f.quick = newQuick(f)
	}
	return f, nil
}

// fingerprint returns the true fingerprint of k, in [0, B·R). Its low bits are
// never zero, which stands for an empty cell. They are mended here, once: every
// path multiplies by an odd number, so no subtable makes a zero of them. To mend
// each remainder by itself would let one key have two.
func (f *Filter) fingerprint(k filter.Key) uint64 {
	return f.mend(probe.Reduce(f.mixer.Mix(k), f.space))
}

// mend makes low bits that are all zero 1.
func (f *Filter) mend(fp uint64) uint64 {
	return fp | (fp&f.mask-1)>>63
}

// at returns the bucket of fingerprint fp in subtable i, and what to keep there.
func (f *Filter) at(i, fp uint64) (bucket, remainder uint64) {
	x := f.paths[i].forth.times(fp, f.space)
	return i*f.buckets + x>>f.remainder, x & f.mask
}

// recover returns the fingerprint that is kept as the given remainder in a bucket
// of subtable i, counted from the first of that subtable.
func (f *Filter) recover(i, bucket, remainder uint64) uint64 {
	return f.paths[i].back.times(bucket<<f.remainder|remainder, f.space)
}

// seek returns the one cell that holds fp. It asks has first: keys that are not
// there are common in Add, and the cache misses of all buckets overlap.
func (f *Filter) seek(fp uint64) (cell uint64, ok bool) {
	if !f.has(fp) {
		return 0, false
	}
	for i := range f.subtables {
		bucket, remainder := f.at(i, fp)
		if cell, ok = f.find(bucket, remainder); ok {
			return cell, true
		}
	}
	return 0, false
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
// another key, which may then be denied.
func (f *Filter) Delete(k filter.Key) error {
	fp := f.fingerprint(k)
	cell, ok := f.seek(fp)
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

// weight returns 1 if two values of the hash lead to fp, see fingerprint, and 0
// if one does.
func (f *Filter) weight(fp uint64) uint64 {
	if fp&f.mask == 1 {
		return 1
	}
	return 0
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
