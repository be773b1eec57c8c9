package dpbf19

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/partition"
)

// layout is the filter as [DPBF19] lays it out: a map of the unit filters that are
// populated, the puBFMap, and a tree of pointers with a unit at each leaf, the CPBPT.
// Sets are united and intersected unit by unit, with OR and AND, after which the number
// of ids is unknown: a leaf is split when its set bits say that it is full.
type layout struct {
	shape partition.Shape
	units map[uint64]*bloom.Filter // by the numbers of the leaves of the full tree
	root  *node
}

// node is a leaf if it has a unit: the OR of those below it, whose numbers it has, which
// are the pointers of Figure 5. Leaves without ids have a unit, too (Def. 2.4).
type node struct {
	children [2]*node
	unit     *bloom.Filter
	below    []uint64
}

func newLayout(s partition.Shape) *layout {
	l := &layout{shape: s, units: map[uint64]*bloom.Filter{}}
	l.root = l.build(0, nil)
	return l
}

// unit returns an empty one.
func (l *layout) unit() *bloom.Filter {
	u, err := bloom.Build(bloom.Shape{Bits: l.shape.UnitBits, Hashes: l.shape.Hashes})
	if err != nil {
		panic(fmt.Sprintf("dpbf19: a unit of %d bits: %v", l.shape.UnitBits, err))
	}
	return u
}

// build makes the tree of the given units below a node of some depth.
func (l *layout) build(depth int, below []uint64) *node {
	u := l.unit()
	for _, number := range below {
		if err := u.Union(l.units[number]); err != nil {
			panic(fmt.Sprintf("dpbf19: units of one shape: %v", err))
		}
	}
	if depth == l.shape.Depth || u.SetBits() <= l.shape.Full {
		return &node{unit: u, below: below}
	}
	var halves [2][]uint64
	for _, number := range below {
		side := number >> (l.shape.Depth - 1 - depth) & 1
		halves[side] = append(halves[side], number)
	}
	return &node{children: [2]*node{l.build(depth+1, halves[0]), l.build(depth+1, halves[1])}}
}

// leaf walks down to the leaf of an id.
func (l *layout) leaf(id uint64) (n *node, depth int) {
	for n = l.root; n.unit == nil; depth++ {
		n = n.children[id>>(l.shape.IDBits-1-depth)&1]
	}
	return n, depth
}

// Add puts an id into its unit of the map and into that of its leaf.
func (l *layout) Add(k filter.Key) (bool, error) {
	number := uint64(k) >> (l.shape.IDBits - l.shape.Depth)
	n, depth := l.leaf(uint64(k))
	if l.units[number] == nil {
		l.units[number] = l.unit()
		n.below = append(n.below, number)
	}
	if _, err := l.units[number].Add(key(k)); err != nil {
		return false, err
	}
	added, err := n.unit.Add(key(k))
	if n.unit.SetBits() > l.shape.Full && depth < l.shape.Depth {
		*n = *l.build(depth, n.below)
	}
	return added, err
}

// MayContain asks the tree only.
func (l *layout) MayContain(k filter.Key) bool {
	n, _ := l.leaf(uint64(k))
	return n.unit.MayContain(key(k))
}

// Union is OR of the units.
func (l *layout) Union(other filter.Filter) error {
	for number, u := range other.(*layout).units {
		if l.units[number] == nil {
			l.units[number] = l.unit()
		}
		if err := l.units[number].Union(u); err != nil {
			return err
		}
	}
	l.rebuild()
	return nil
}

// Intersect is AND of the units. Bits that different ids set in both are left.
func (l *layout) Intersect(other filter.Filter) error {
	for number, u := range l.units {
		if common := other.(*layout).units[number]; common == nil {
			delete(l.units, number)
		} else if err := u.Intersect(common); err != nil {
			return err
		} else if u.SetBits() == 0 {
			delete(l.units, number)
		}
	}
	l.rebuild()
	return nil
}

func (l *layout) rebuild() {
	all := make([]uint64, 0, len(l.units))
	for number := range l.units {
		all = append(all, number)
	}
	l.root = l.build(0, all)
}

// Info tells sizes, and the rate of an id that lies anywhere.
func (l *layout) Info() filter.Info {
	leaves, rate := 0, 0.0
	l.leaves(func(n *node, depth int) {
		leaves++
		rate += math.Ldexp(math.Pow(float64(n.unit.SetBits())/float64(l.shape.UnitBits), float64(l.shape.Hashes)), -depth)
	})
	return filter.Info{Kind: "layout", FPR: rate, FastBits: uint64(leaves) * l.shape.UnitBits, SlowBits: uint64(len(l.units)) * l.shape.UnitBits, Unbounded: true}
}

// leaves visits all of them.
func (l *layout) leaves(visit func(n *node, depth int)) {
	var walk func(n *node, depth int)
	walk = func(n *node, depth int) {
		if n.unit != nil {
			visit(n, depth)
			return
		}
		walk(n.children[0], depth+1)
		walk(n.children[1], depth+1)
	}
	walk(l.root, 0)
}
