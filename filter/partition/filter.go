package partition

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
	"github.com/everbloom-go/everbloom/internal/probe"
	"github.com/everbloom-go/everbloom/internal/sizing"
)

// Filter is a dynamic partition Bloom filter.
type Filter struct {
	tree   tree
	units  units  // by number
	leaves []leaf // by the number of the unit
	tally

	marker
	shift uint   // bits of a Key that an id has not
	last  uint64 // the largest id
	shape Shape
}

// A leaf is a leaf of the tree that has ids, and with them the part of the map
// that belongs to it.
type leaf struct {
	offsets
	set   uint32 // bits of the unit
	depth uint8
}

// A tally sums up over all leaves.
type tally struct {
	set   uint64 // bits
	count uint64 // ids
	slow  uint64 // bits of memory for offsets
}

func (t *tally) include(l *leaf) {
	t.set += uint64(l.set)
	t.count += uint64(l.count)
	t.slow += 8 * uint64(len(l.data))
}

func (t *tally) exclude(l *leaf) {
	t.set -= uint64(l.set)
	t.count -= uint64(l.count)
	t.slow -= 8 * uint64(len(l.data))
}

var (
	_ merging.Preparer   = (*Filter)(nil)
	_ filter.Clearer     = (*Filter)(nil)
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
)

// New returns an empty filter.
func New(c Config) (*Filter, error) { return sizing.New(c.Shape, Build) }

// Build returns an empty filter of exactly this shape.
func Build(s Shape) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return over(s), nil
}

// over returns an empty filter of a shape that is in order.
func over(s Shape) *Filter {
	return &Filter{
		tree:   newTree(s.IDBits),
		units:  newUnits(s.words()),
		marker: marker{mixer: probe.NewMixer(s.Salt), bits: s.UnitBits, hashes: s.Hashes},
		shift:  s.shift(),
		last:   s.lastID(),
		shape:  s,
	}
}

// ErrOutside is returned by Add for an id that is not in the universe. It wraps
// [filter.ErrFull]: the filter has no room for such an id, and never will.
var ErrOutside = fmt.Errorf("id outside the universe: %w", filter.ErrFull)

// Add puts k into the set. It reports whether k is new to it; of two Keys that
// shorten to one id the second is not. The error is [ErrOutside] or ErrStorage,
// and then nothing was changed.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	id := uint64(k) >> (f.shift & 63)
	if id > f.last {
		return false, fmt.Errorf("partition: id %d, the largest is %d: %w", id, f.last, ErrOutside)
	}
	r := f.tree.find(id)
	if r == none {
		err := f.begin(id)
		return err == nil, err
	}
	// Bits first: an id that is there has them set, so nothing changes, and their
	// cache misses are under way while the offsets are searched.
	unit := r.unit()
	l := &f.leaves[unit]
	fresh := f.mark(f.units.at(unit), id)
	place, found := l.search(id)
	if found {
		return false, nil
	}
	if f.overfull(int(l.set)+fresh, int(l.count)+1, int(l.depth)) {
		if err := f.split(unit, id); err != nil {
			f.fill(unit)
			return false, err
		}
		return true, nil
	}
	f.exclude(l)
	l.set += uint32(fresh)
	l.insert(id, place)
	f.include(l)
	return true, nil
}

// begin makes a leaf for id where there was none.
func (f *Filter) begin(id uint64) error {
	depth := f.tree.depthOf(id)
	list := takeList()
	defer list.release()
	list.ids = append(list.ids, id)
	b := builder{f: f, ids: list.ids, spare: noUnit}
	r, err := b.node(depth, f.tree.prefix(id, depth)<<(f.shape.IDBits-depth))
	if err != nil {
		return err
	}
	f.tree.put(id, depth, r)
	f.tree.fitTop()
	return nil
}

// Clear takes all keys out and gives the memory back. It never fails.
func (f *Filter) Clear() error {
	*f = *over(f.shape)
	return nil
}

// fill gives a unit the bits of its leaf's ids.
func (f *Filter) fill(unit int) {
	list := takeList()
	defer list.release()
	list.ids = f.leaves[unit].appendTo(list.ids)
	words := f.units.at(unit)
	clear(words)
	for _, id := range list.ids {
		f.mark(words, id)
	}
}

// overfull reports whether a leaf at depth with so many set bits and ids must be
// split. Both only grow with the set, so which leaves there are follows from the
// ids, not from the order in which they came.
func (f *Filter) overfull(set, count, depth int) bool {
	return depth < f.shape.Depth && (uint64(set) > f.shape.Full || f.shape.Count > 0 && uint64(count) > f.shape.Count)
}

// MayContain reports whether k may be in the set. False is certain.
//
// After the walk it is [probe.All], here without a call: units are small enough that a
// call would show.
func (f *Filter) MayContain(k filter.Key) bool {
	id := uint64(k) >> (f.shift & 63)
	if id > f.last {
		return false
	}
	r := f.tree.find(id)
	if r == none {
		return false
	}
	words, m := f.units.at(r.unit()), f.bits
	h, left := f.hash(id), f.hashes
	for ; left >= 4; left -= 4 {
		if probe.One(words, m, h)&probe.One(words, m, probe.Step(h))&
			probe.One(words, m, probe.StepBy(h, 2))&probe.One(words, m, probe.StepBy(h, 3)) == 0 {
			return false
		}
		h = probe.StepBy(h, 4)
	}
	return probe.Rest(words, m, h, left)
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape { return f.shape }

// Len returns the number of ids in the set. In a universe of ids that is the number
// of keys; of hashed Keys it is below that by those that shorten to the same id.
func (f *Filter) Len() uint64 { return f.count }
