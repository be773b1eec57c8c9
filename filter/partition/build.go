package partition

import "errors"

// A source gives ids in ascending order, each once.
type source interface {
	// more appends some of the next ids to dst, none if there are no more.
	more(dst []uint64) []uint64
}

// A builder makes a part of the tree from ids. It is the one way in which leaves
// come into being: the first leaf, the halves of one that splits, the whole tree
// of a union, an intersection or a file.
type builder struct {
	f     *Filter
	src   source   // nil if ids has all
	ids   []uint64 // those that are known
	done  int      // how many of them have a leaf already
	proof int      // those from done up to here are too many for a leaf; 0 if unknown
	spare int      // a unit that is to be used first, all clear; noUnit if there is none
}

const noUnit = -1

// node builds the node at depth that begins with id low, with all ids that belong
// there. It tries to make a leaf of them; if that gets overfull, the node becomes a
// pair. So it never looks further than at the ids of one leaf and one more, however
// many there are. If these are all in the left half, that is overfull, too, and need
// not be tried.
func (b *builder) node(depth int, low uint64) (ref, error) {
	high := low + (1<<(b.f.shape.IDBits-depth) - 1)
	if b.proof > 0 && depth < b.f.shape.Depth && b.ids[b.proof-1] <= high {
		return b.pair(depth, low)
	}
	if id, ok := b.peek(b.done); !ok || id > high {
		return none, nil
	}
	unit, err := b.unit()
	if err != nil {
		return none, err
	}
	words := b.f.units.at(unit)
	set, end := 0, b.done
	for {
		id, ok := b.peek(end)
		if !ok || id > high {
			break
		}
		set += b.f.mark(words, id)
		end++
		if b.f.overfull(set, end-b.done, depth) {
			clear(words)
			b.spare, b.proof = unit, end
			return b.pair(depth, low)
		}
	}
	b.leaf(unit, end, leaf{set: uint32(set), depth: uint8(depth)})
	return leafOf(unit), nil
}

// unit returns a unit without bits.
func (b *builder) unit() (int, error) {
	if unit := b.spare; unit != noUnit {
		b.spare = noUnit
		return unit, nil
	}
	return b.f.units.take()
}

// leaf enters l, the leaf of the ids before end.
func (b *builder) leaf(unit, end int, l leaf) {
	l.offsets = pack(b.ids[b.done:end])
	b.f.leaves = extend(b.f.leaves, max(len(b.f.leaves), unit+1))
	b.f.leaves[unit] = l
	b.f.include(&l)
	b.done, b.proof = end, 0
	if b.src != nil {
		b.ids, b.done = append(b.ids[:0], b.ids[end:]...), 0
	}
}

// pair builds a node that is known to be no leaf.
func (b *builder) pair(depth int, low uint64) (ref, error) {
	if b.f.tree.inners() == maxNodes {
		return none, errNodes
	}
	p := b.f.tree.addPair()
	for side := range uint64(2) {
		child, err := b.node(depth+1, low+side<<(b.f.shape.IDBits-depth-1))
		if err != nil {
			return none, err
		}
		b.f.tree.pairs[2*uint64(p)+side] = child
	}
	return p, nil
}

// peek returns the i-th id, if there is one.
func (b *builder) peek(i int) (id uint64, ok bool) {
	if i < len(b.ids) {
		return b.ids[i], true
	}
	if b.src == nil {
		return 0, false
	}
	return b.fetch(i)
}

// fetch gets more ids from the source, of which the i-th is the first.
func (b *builder) fetch(i int) (id uint64, ok bool) {
	if b.ids = b.src.more(b.ids); len(b.ids) == i {
		b.src = nil
		return 0, false
	}
	return b.ids[i], true
}

// assemble returns a new filter of the shape with the ids of src.
func assemble(s Shape, src source) (*Filter, error) {
	g := over(s)
	list := takeList()
	defer list.release()
	b := builder{f: g, src: src, ids: list.ids, spare: noUnit}
	g.units.ahead = true
	root, err := b.node(0, 0)
	list.ids = b.ids
	if err := errors.Join(err, g.units.trim()); err != nil {
		return nil, err
	}
	g.tree.put(0, 0, root)
	g.tree.fitTop()
	return g, nil
}

// split makes a pair of the overfull leaf of the given unit, and leaves of its ids
// and of one more. After an error everything is as before, but for that unit's bits.
func (f *Filter) split(unit int, id uint64) error {
	old, before := f.leaves[unit], f.tally
	leaves, pairs, units := f.leaves, f.tree.pairs, f.units.checkpoint()
	list := takeList()
	defer list.release()
	list.ids = old.appendWith(list.ids, id)
	f.exclude(&old)
	clear(f.units.at(unit))
	b := builder{f: f, ids: list.ids, spare: unit}
	depth := int(old.depth)
	r, err := b.pair(depth, f.tree.prefix(id, depth)<<(f.shape.IDBits-depth))
	if err != nil {
		f.units.back(units)
		leaves[unit] = old
		f.leaves, f.tree.pairs, f.tally = leaves, pairs, before
		return err
	}
	f.tree.put(id, depth, r)
	f.tree.fitTop()
	return nil
}
