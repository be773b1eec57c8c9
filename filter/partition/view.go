package partition

import "iter"

// A Node is a node of the tree as it stands: the compressed tree of [DPBF19].
type Node struct {
	Depth   int
	Index   uint64 // among the nodes of that depth in the full tree, from 0
	Leaf    bool
	Keys    uint64   // ids of a leaf
	SetBits uint64   // of a leaf's unit; a leaf without ids has none
	Words   []uint64 // of a leaf's unit; they are not a copy
}

// Nodes gives the nodes of the tree, each before those below it, in the order of
// their ids.
func (f *Filter) Nodes() iter.Seq[Node] {
	return func(yield func(Node) bool) { f.visit(f.tree.root, 0, 0, yield) }
}

func (f *Filter) visit(r ref, depth int, index uint64, yield func(Node) bool) bool {
	n := Node{Depth: depth, Index: index, Leaf: !r.inner()}
	if r.inner() {
		return yield(n) &&
			f.visit(f.tree.pairs[2*uint64(r)], depth+1, 2*index, yield) &&
			f.visit(f.tree.pairs[2*uint64(r)+1], depth+1, 2*index+1, yield)
	}
	if r != none {
		l := &f.leaves[r.unit()]
		n.Keys, n.SetBits, n.Words = uint64(l.count), uint64(l.set), f.units.at(r.unit())
	}
	return yield(n)
}

// IDs gives the ids of the set in ascending order: the map. It must not be changed
// meanwhile.
func (f *Filter) IDs() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		c := cursor{f: f}
		for c.load() {
			for _, id := range c.ids {
				if !yield(id) {
					return
				}
			}
			c.ids = nil
		}
	}
}

// Units gives the populated units of the map, the puBFMap of [DPBF19]: their
// numbers among the leaves of the full tree, ascending, and how many ids each has.
func (f *Filter) Units() iter.Seq2[uint64, uint64] {
	below := f.shape.IDBits - f.shape.Depth
	return func(yield func(uint64, uint64) bool) {
		unit, count := uint64(0), uint64(0)
		for id := range f.IDs() {
			if next := id >> below; next != unit && count > 0 {
				if !yield(unit, count) {
					return
				}
				count = 0
			}
			unit = id >> below
			count++
		}
		if count > 0 {
			yield(unit, count)
		}
	}
}

// Parts returns how many units the tree has, in no order, and which share of the bits of each
// is set.
func (f *Filter) Parts() (n uint64, fill func(i uint64) float64) {
	return uint64(len(f.leaves)), func(i uint64) float64 { return float64(f.leaves[i].set) / float64(f.shape.UnitBits) }
}
