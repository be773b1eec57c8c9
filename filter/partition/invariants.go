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
	if err := f.checkTop(f.tree.root, 0, 0); err != nil {
		return err
	}
	seen := make([]bool, len(f.leaves))
	sum, err := f.checkNode(f.tree.root, 0, 0, seen)
	if err != nil {
		return err
	}
	if i := slices.Index(seen, false); i >= 0 {
		return fmt.Errorf("partition: unit %d has no leaf", i)
	}
	if sum != f.tally {
		return fmt.Errorf("partition: tally is %+v, counted %+v", f.tally, sum)
	}
	return f.checkRoom()
}

// checkNode checks a node and all below it, and sums up its leaves.
func (f *Filter) checkNode(r ref, depth int, prefix uint64, seen []bool) (sum tally, err error) {
	switch {
	case r == none:
		return sum, nil
	case !r.inner():
		l := &f.leaves[r.unit()]
		seen[r.unit()] = true
		sum.include(l)
		return sum, f.checkLeaf(r.unit(), depth, prefix)
	case depth >= f.shape.Depth:
		return sum, fmt.Errorf("partition: an inner node at depth %d of %d", depth, f.shape.Depth)
	}
	for side := range uint64(2) {
		part, err := f.checkNode(f.tree.pairs[2*uint64(r)+side], depth+1, 2*prefix+side, seen)
		if err != nil {
			return sum, err
		}
		sum.set, sum.count, sum.slow = sum.set+part.set, sum.count+part.count, sum.slow+part.slow
	}
	return sum, f.checkPair(r, depth)
}

// checkLeaf checks that a leaf has the ids that belong there and its unit their
// bits and no others.
func (f *Filter) checkLeaf(unit, depth int, prefix uint64) error {
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

// checkPair checks that the ids of an inner node do not fit into one unit.
func (f *Filter) checkPair(r ref, depth int) error {
	var ids []uint64
	var collect func(r ref)
	collect = func(r ref) {
		if r.inner() {
			collect(f.tree.pairs[2*uint64(r)])
			collect(f.tree.pairs[2*uint64(r)+1])
		} else if r != none {
			ids = f.leaves[r.unit()].appendTo(ids)
		}
	}
	collect(r)
	words := make([]uint64, f.units.stride)
	set := 0
	for i, id := range ids {
		set += f.mark(words, id)
		if f.overfull(set, i+1, depth) {
			return nil
		}
	}
	return fmt.Errorf("partition: an inner node at depth %d has %d ids, which fit into a leaf", depth, len(ids))
}

// checkTop checks that the table leads where the root leads.
func (f *Filter) checkTop(r ref, depth int, prefix uint64) error {
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
func (f *Filter) checkRoom() error {
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
