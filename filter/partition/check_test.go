package partition

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// check reports whether the filter is what its documentation says: it is the one
// that its ids give when they are put together anew.
func (f *Filter) check() error {
	if err := f.shape.check(); err != nil {
		return err
	}
	c := inspection{Filter: f, seen: make([]bool, len(f.leaves))}
	if err := errors.Join(c.checkTop(f.tree.root, 0, 0), c.checkRoom()); err != nil {
		return err
	}
	if _, err := c.checkNode(f.tree.root, 0, 0); err != nil {
		return err
	}
	if i := slices.Index(c.seen, false); i >= 0 {
		return fmt.Errorf("partition: unit %d has no leaf", i)
	}
	if c.sum != f.tally {
		return fmt.Errorf("partition: tally is %+v, counted %+v", f.tally, c.sum)
	}
	return nil
}

// An inspection is a check of all nodes.
type inspection struct {
	*Filter
	seen []bool // units that have a leaf
	sum  tally
}

// checkNode checks a node and all below it, and returns their ids.
func (f *inspection) checkNode(r ref, depth int, prefix uint64) (ids []uint64, err error) {
	switch {
	case r == none:
		return nil, nil
	case !r.inner():
		f.seen[r.unit()] = true
		f.sum.include(&f.leaves[r.unit()])
		return f.leaves[r.unit()].appendTo(nil), f.checkLeaf(r.unit(), depth, prefix)
	case depth >= f.shape.Depth:
		return nil, fmt.Errorf("partition: an inner node at depth %d of %d", depth, f.shape.Depth)
	}
	for side := range uint64(2) {
		part, err := f.checkNode(f.tree.pairs[2*uint64(r)+side], depth+1, 2*prefix+side)
		if err != nil {
			return nil, err
		}
		ids = append(ids, part...)
	}
	if f.fits(ids, depth) {
		return nil, fmt.Errorf("partition: an inner node at depth %d has %d ids, which fit into a leaf", depth, len(ids))
	}
	return ids, nil
}

// checkLeaf checks that a leaf has the ids that belong there and its unit their
// bits and no others.
func (f *inspection) checkLeaf(unit, depth int, prefix uint64) error {
	l := &f.leaves[unit]
	ids := l.appendTo(nil)
	if err := l.check(ids); err != nil {
		return fmt.Errorf("partition: leaf of unit %d: %w", unit, err)
	}
	if depth != int(l.depth) || f.tree.prefix(ids[0], depth) != prefix || f.tree.prefix(ids[len(ids)-1], depth) != prefix {
		return fmt.Errorf("partition: leaf of unit %d, node %d at depth %d: ids %d to %d, depth %d", unit, prefix, depth, ids[0], ids[len(ids)-1], l.depth)
	}
	if f.overfull(int(l.set), int(l.count), depth) {
		return fmt.Errorf("partition: leaf of unit %d at depth %d is overfull: %d bits, %d ids", unit, depth, l.set, l.count)
	}
	words := make([]uint64, f.units.stride)
	set := 0
	for _, id := range ids {
		set += f.mark(words, id)
	}
	if set != int(l.set) || !slices.Equal(words, f.units.at(unit)) {
		return fmt.Errorf("partition: unit %d has other bits than its %d ids set, %d of them", unit, l.count, set)
	}
	return nil
}

// fits reports whether a leaf at depth has room for the ids.
func (f *inspection) fits(ids []uint64, depth int) bool {
	words := make([]uint64, f.units.stride)
	set := 0
	for i, id := range ids {
		set += f.mark(words, id)
		if f.overfull(set, i+1, depth) {
			return false
		}
	}
	return true
}

// checkTop checks that the table leads where the root leads.
func (f *inspection) checkTop(r ref, depth int, prefix uint64) error {
	if depth < f.tree.topBits && r.inner() {
		return errors.Join(
			f.checkTop(f.tree.pairs[2*uint64(r)], depth+1, 2*prefix),
			f.checkTop(f.tree.pairs[2*uint64(r)+1], depth+1, 2*prefix+1))
	}
	left := f.tree.topBits - depth
	for i, t := range f.tree.top[prefix<<left : (prefix+1)<<left] {
		if t != r {
			return fmt.Errorf("partition: entry %d of the table is %#x, want %#x", prefix<<left+uint64(i), t, r)
		}
	}
	return nil
}

// checkRoom checks that every part has the room that Info tells.
func (f *inspection) checkRoom() error {
	words := 0
	for _, slab := range f.units.slabs {
		words += len(slab)
	}
	if uint64(words) != f.units.words(f.units.n) || f.units.n != len(f.leaves) {
		return fmt.Errorf("partition: %d leaves and %d units in %d words, want %d", len(f.leaves), f.units.n, words, f.units.words(f.units.n))
	}
	if cap(f.tree.pairs) > roundUp(len(f.tree.pairs)) || cap(f.leaves) > roundUp(len(f.leaves)) {
		return fmt.Errorf("partition: room for %d of %d refs, %d of %d leaves", cap(f.tree.pairs), len(f.tree.pairs), cap(f.leaves), len(f.leaves))
	}
	if want := topBitsFor(f.tree.inners(), f.tree.idBits); want != f.tree.topBits || len(f.tree.top) != 1<<want {
		return fmt.Errorf("partition: a table of %d entries for %d inner nodes", len(f.tree.top), f.tree.inners())
	}
	return nil
}

// check checks offsets that hold ids.
func (o *offsets) check(ids []uint64) error {
	if len(ids) == 0 || len(ids) != int(o.count) {
		return fmt.Errorf("%d ids, found %d", o.count, len(ids))
	}
	for i := range ids[1:] {
		if ids[i] >= ids[i+1] {
			return fmt.Errorf("id %d before %d", ids[i], ids[i+1])
		}
	}
	span := uint8(bits.Len64(ids[0] ^ ids[len(ids)-1]))
	if span != o.span || o.base != ids[0]>>span<<span || o.dense != isDense(span, len(ids)) || len(o.data) != roomFor(span, len(ids)) {
		return fmt.Errorf("%d ids from %d to %d in %d bytes: base %d, span %d, dense %t",
			len(ids), ids[0], ids[len(ids)-1], len(o.data), o.base, o.span, o.dense)
	}
	return nil
}
