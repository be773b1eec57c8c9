package deletable

import (
	"cmp"
	"fmt"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/merging"
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Filter is a Bloom filter that knows in which regions of its bits keys collided,
// and can delete keys that have a bit elsewhere.
type Filter struct {
	cells    []uint64 // m' bits
	marks    []uint64 // r bits; set: a collision happened in the region
	size     uint64   // m'
	hashes   int      // k
	mixer    probe.Mixer
	region   divider // cell -> its region
	set      uint64  // set cells
	marked   uint64  // set marks
	keys     uint64  // Adds that set a cell, less successful Deletes
	capacity uint64  // keys it was made for, 0 if unknown
	shape    Shape
}

var (
	_ filter.Deleter     = (*Filter)(nil)
	_ merging.Preparer   = (*Filter)(nil)
	_ filter.Clearer     = (*Filter)(nil)
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
)

// The answers of Delete, made once: it allocates nothing.
var (
	errNotFound = fmt.Errorf("deletable: delete: %w", filter.ErrNotFound)
	errPinned   = fmt.Errorf("deletable: delete: no bit of the key is free of collisions: %w", filter.ErrPinned)
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
	words, err := mem.Words(s.words())
	if err != nil {
		return nil, fmt.Errorf("deletable: %w: %w", filter.ErrStorage, err)
	}
	return over(s, words), nil
}

// words returns how many words hold marks and cells.
func (s Shape) words() uint64 { return bitvec.WordsFor(s.Regions) + bitvec.WordsFor(s.Cells()) }

// over returns the filter of shape s whose marks and cells are words.
func over(s Shape, words []uint64) *Filter {
	marks := bitvec.WordsFor(s.Regions)
	return from(s, words[:marks:marks], words[marks:])
}

// from returns the filter of shape s with these marks and cells.
func from(s Shape, marks, cells []uint64) *Filter {
	f := &Filter{
		marks:  marks,
		cells:  cells,
		size:   s.Cells(),
		hashes: s.Hashes,
		mixer:  probe.NewMixer(s.Salt),
		region: newDivider(s.RegionBits()),
		shape:  s,
	}
	f.recount()
	return f
}

// recount brings the counts of set bits up to date with the words.
func (f *Filter) recount() {
	f.set = bitvec.Vector(f.cells).Count()
	f.marked = bitvec.Vector(f.marks).Count()
}

// MayContain reports whether k may be in the set. False is certain.
func (f *Filter) MayContain(k filter.Key) bool {
	return probe.All(f.cells, f.size, f.mixer.Mix(k), f.hashes)
}

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
// shorter than keys.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	probe.Batch(f.cells, f.size, f.mixer, f.hashes, keys, out)
}

// Predict says what a filter of this shape is like with n keys, if none was deleted.
func (s Shape) Predict(n uint64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	fill := theory.BloomFill(float64(s.Cells()), float64(s.Hashes), float64(n))
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(float64(64*s.words()), n),
		FPR:            s.FPR(n),
		HitLines:       float64(s.Hashes),
		MissLines:      probe.MissLines(s.Hashes, fill, probe.Group),
	}, nil
}

// Add puts k into the set. It reports whether k looked new and never fails.
//
// All positions are read before the first is set: a position that the key has
// twice is no collision of the key with itself.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	h := f.mixer.Mix(k)
	taken := f.taken(h)
	fresh := f.fill(h)
	f.marked += f.markAll(h, taken)
	f.set += fresh
	if fresh == 0 {
		return false, nil
	}
	f.keys++
	return true, nil
}

// taken returns the positions that are set: bit i for position i.
func (f *Filter) taken(h uint64) (set uint64) {
	for i := range f.hashes {
		c := probe.Reduce(h, f.size)
		set |= (f.cells[c/64] >> (c % 64) & 1) << (i & 63)
		h = probe.Step(h)
	}
	return set
}

// fill sets the positions of h and returns how many were clear.
func (f *Filter) fill(h uint64) (fresh uint64) {
	cells, size := f.cells, f.size // here the compiler knows that stores leave them alone
	for range f.hashes {
		i := probe.Reduce(h, size)
		w := &cells[i/64]
		fresh += ^*w >> (i % 64) & 1
		*w |= 1 << (i % 64)
		h = probe.Step(h)
	}
	return fresh
}

// markAll marks the regions of the positions that taken lists and returns how
// many were clean. It goes from one to the next without asking about those
// between: whether a position is taken the processor would often guess wrong.
func (f *Filter) markAll(h, taken uint64) (fresh uint64) {
	marks, size, region := f.marks, f.size, f.region
	for ; taken != 0; taken &= taken - 1 {
		r := region.of(probe.Reduce(h*steps[bits.TrailingZeros64(taken)], size))
		w := &marks[r/64]
		fresh += ^*w >> (r % 64) & 1
		*w |= 1 << (r % 64)
	}
	return fresh
}

// steps[i] takes h to its i-th successor, by multiplication as [probe.Step] does.
var steps = func() (s [sizing.MaxHashes]uint64) {
	h := uint64(1)
	for i := range s {
		s[i] = h
		h = probe.Step(h)
	}
	return s
}()

// Delete takes k out of the set by clearing those of its bits that are in clean
// regions. If there are none the answer is ErrPinned, and if k is certainly not
// in the set ErrNotFound; nothing was changed then.
//
// The key must be in the set. Of a key that is not, but is taken for present,
// the bits belong to others, which are then lost.
func (f *Filter) Delete(k filter.Key) error {
	h := f.mixer.Mix(k)
	present, free := f.look(h)
	switch {
	case !present:
		return errNotFound
	case free == 0:
		return errPinned
	}
	f.set -= f.clear(h, free)
	f.keys = min(max(f.keys, 1)-1, f.set)
	return nil
}

// look reports whether all positions of h are set, and which of them are in clean
// regions: bit i for position i. Cells and marks are read together, so that their
// cache misses overlap.
func (f *Filter) look(h uint64) (present bool, free uint64) {
	all := uint64(1)
	for i := range f.hashes {
		c := probe.Reduce(h, f.size)
		r := f.region.of(c)
		all &= f.cells[c/64] >> (c % 64)
		free |= (^f.marks[r/64] >> (r % 64) & 1) << (i & 63)
		h = probe.Step(h)
	}
	return all != 0, free
}

// clear clears the positions that free lists and returns how many were set: a
// position that the key has twice is cleared once. It writes to all positions:
// how many are free the processor would often guess wrong.
func (f *Filter) clear(h, free uint64) (cleared uint64) {
	cells, size := f.cells, f.size
	for range f.hashes {
		i := probe.Reduce(h, size)
		w := &cells[i/64]
		bit := (free & 1) << (i % 64)
		cleared += (*w & bit) >> (i % 64)
		*w &^= bit
		free >>= 1
		h = probe.Step(h)
	}
	return cleared
}

// Clear takes all keys out, pinned ones too, and makes all regions clean again. It
// never fails.
func (f *Filter) Clear() error {
	clear(f.marks)
	clear(f.cells)
	f.set, f.marked, f.keys = 0, 0, 0
	return nil
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape { return f.shape }

// Len returns the number of keys in the set, as far as it is known: those that
// were false positives when they were added are missing.
func (f *Filter) Len() uint64 { return f.keys }
