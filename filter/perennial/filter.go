package perennial

import (
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
	"github.com/everbloom-go/everbloom/internal/sizing"
)

// Filter is a set of keys that grows, shrinks and deletes. Queries need no lock, changes
// must exclude each other.
type Filter struct{ ring atomic.Pointer[ring] }

var (
	_ filter.Deleter     = (*Filter)(nil)
	_ filter.Resizer     = (*Filter)(nil)
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Clearer     = (*Filter)(nil)
	_ filter.LockFree    = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
	_ merging.Preparer   = (*Filter)(nil)
)

// LockFreeReaders marks the filter as safe to read beside one writer.
func (f *Filter) LockFreeReaders() {}

// New returns an empty filter for c.
func New(c Config) (*Filter, error) { return sizing.New(c.Shape, Build) }

// Build returns an empty filter of exactly this shape.
func Build(s Shape) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	r, err := newRing(s, s.Lines)
	if err != nil {
		return nil, fmt.Errorf("perennial: %w", err)
	}
	f := new(Filter)
	f.ring.Store(r)
	return f, nil
}

// Shape returns the geometry of the filter.
func (f *Filter) Shape() Shape { return f.ring.Load().shape }

// Len returns the number of keys: those added less those deleted.
func (f *Filter) Len() uint64 { return f.ring.Load().keys }

// Add puts k into the set and reports whether it looked new. A key that is added several
// times must be deleted as often. The error is filter.ErrFull, for keys that were chosen to meet
// in one bucket or in neighbouring ones.
func (f *Filter) Add(k filter.Key) (added bool, err error) { return f.ring.Load().add(k) }

// MayContain reports whether k may be in the set. False is certain.
func (f *Filter) MayContain(k filter.Key) bool { return filterHas(f, k) }

// filterLookup is MayContain in Go.
func filterLookup(f *Filter, k filter.Key) bool { return f.ring.Load().look(k) }

// Delete takes k out of the set. k must have been added: to delete another key is
// refused with filter.ErrNotFound if the filter can tell, and otherwise takes a key out
// that is in the set.
func (f *Filter) Delete(k filter.Key) error { return f.ring.Load().remove(k) }

// Grow adds a line. The filter does not shrink below its new size by itself.
func (f *Filter) Grow() error {
	r := f.ring.Load()
	if err := r.resize(r.layout.total + 1); err != nil {
		return fmt.Errorf("perennial: grow: %w", err)
	}
	r.least = r.layout.total
	r.moved()
	return nil
}

// Shrink removes a line, if the keys fit into the rest. Lines may become fuller than they are
// by themselves, until the next key is added. Below Items the rate may become higher than asked.
func (f *Filter) Shrink() error {
	r := f.ring.Load()
	n := r.layout.total - 1
	full := r.shape
	full.Fill = maxFill
	if n < minLines || float64(r.slots) > full.room(layoutOf(n)) || r.crowded(1) {
		return fmt.Errorf("perennial: shrink to %d lines: %w", n, filter.ErrFull)
	}
	least := r.least
	r.least = min(least, n)
	err := r.resize(n)
	if err != nil {
		r.least = least
		return fmt.Errorf("perennial: shrink: %w", err)
	}
	return nil
}

// Clear takes all keys out.
func (f *Filter) Clear() error {
	r, err := newRing(f.Shape(), f.Shape().Lines)
	if err != nil {
		return fmt.Errorf("perennial: clear: %w", err)
	}
	f.ring.Store(r)
	return nil
}

// Clone returns a copy that shares nothing with f.
func (f *Filter) Clone() (*Filter, error) {
	r, err := f.ring.Load().clone()
	if err != nil {
		return nil, fmt.Errorf("perennial: clone: %w", err)
	}
	c := new(Filter)
	c.ring.Store(r)
	return c, nil
}

// Info describes the filter as it stands.
func (f *Filter) Info() filter.Info {
	r := f.ring.Load()
	y := r.layout
	return filter.Info{
		Kind:       "perennial",
		Keys:       r.keys,
		Exact:      true,
		FastBits:   8*r.lines.Bytes() + 32*uint64(len(*r.seqs.Load())) + r.extras.Load().bits(),
		FPR:        r.rate(),
		Fill:       float64(y.total*headBits+y.buckets()+r.slots*uint64(r.w+1)) / float64(y.total*lineBits),
		Unbounded:  true,
		Duplicates: filter.DuplicatesCounted,
		Details: []filter.Detail{
			{Name: "lines", Value: strconv.FormatUint(y.total, 10)},
			{Name: "slot bits", Value: strconv.FormatUint(r.shape.Width, 10)},
			{Name: "slots", Value: strconv.FormatUint(r.slots, 10)},
		},
	}
}

// LinesWritten returns how many lines all changes so far have written, to see what single
// operations do.
func (f *Filter) LinesWritten() uint64 { return f.ring.Load().written }

// Parts returns how many lines there are, in the order of memory, and which share of each is
// taken. The filter must not be changed meanwhile.
func (f *Filter) Parts() (n uint64, fill func(i uint64) float64) {
	r := f.ring.Load()
	return r.layout.total, func(i uint64) float64 {
		x := r.at(i).extent()
		return float64(x.end()+x.slots*r.w) / lineBits
	}
}

// Place returns where the bucket of k is: the line that holds it, in the order of memory, the
// number of the bucket among those that the line holds, and its slots, the first and how many.
// The filter must not be changed meanwhile.
func (f *Filter) Place(k filter.Key) (line uint64, bucket int, first, count uint) {
	r := f.ring.Load()
	p, l, bucket := r.find(r.layout.locate(r.mixer.Mix(k), r.w))
	first, count = l.find(bucket)
	return p.index(), bucket, first, count
}
