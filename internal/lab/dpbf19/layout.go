package dpbf19

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/theory"
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

// target is the rate of Figure 1.
const target = 1e-4

// unitWidth is how many bits of an id tell it from the others of its unit: units are
// for 1,024 ids.
const unitWidth = 10

// The contenders.
const (
	dpbf  = "DPBF"
	dbf   = "DBF"
	plain = "plain"
)

// configFor asks for the partition filter of a universe of ids of so many bits.
func configFor(width int) partition.Config {
	return partition.Config{FPR: target, Universe: 1 << width, Depth: width - unitWidth}
}

// build makes a contender for ids of so many bits; plain filters are for n of them. Units
// have the bits that Eq. (1) gives and are full where that has the rate.
func build(name string, width int, n uint64) (f filter.Filter, err error) {
	s, err := configFor(width).Shape()
	if err != nil {
		return nil, err
	}
	m := theory.PartitionUnitBits(float64(s.UnitIDs()), float64(s.Hashes), target)
	s.UnitBits, s.Full = uint64(m), uint64(m*math.Pow(target, 1/float64(s.Hashes)))
	switch name {
	case dpbf:
		return newLayout(s), nil
	case dbf:
		f, err = dynamic.Build(dynamic.Shape{Positions: s.UnitBits, Hashes: s.Hashes, CounterBits: 1, Full: s.Full})
	default:
		f, err = bloom.New(bloom.Config{Items: n, FPR: target})
	}
	return hashed{f}, err
}

// key is an id as filters want it that do not know ids.
func key(id filter.Key) filter.Key { return filter.Hash{}.Uint64(uint64(id)) }

// hashed is such a filter, for ids.
type hashed struct{ filter.Filter }

func (h hashed) Add(id filter.Key) (bool, error) { return h.Filter.Add(key(id)) }
func (h hashed) MayContain(id filter.Key) bool   { return h.Filter.MayContain(key(id)) }
func (h hashed) Union(other filter.Filter) error {
	return filter.Union(h.Filter, other.(hashed).Filter)
}

func (h hashed) Intersect(other filter.Filter) error {
	return filter.Intersect(h.Filter, other.(hashed).Filter)
}

// ids is a way in which ids lie in the universe: it gives the i-th of a set. Those that
// follow are absent.
type ids func(i uint64) filter.Key

const (
	spread = "spread evenly"
	whole  = "whole units of 1,024"
)

func evenly(width int, seed uint32) ids {
	return func(i uint64) filter.Key { return filter.Key(permute(i, width, seed)) }
}

// aligned ids fill whole units, which is the best case of Eq. (2).
func aligned(width int, seed uint32) ids {
	return func(i uint64) filter.Key {
		return filter.Key(permute(i/1024, width-unitWidth, seed)<<unitWidth + i%1024)
	}
}

// permute is a permutation of the numbers of so many bits, one for each seed:
// multiplications by odd numbers and shifts to the right, all of which can be undone.
func permute(i uint64, width int, seed uint32) uint64 {
	mask := uint64(1)<<width - 1
	x := (i ^ uint64(seed)) & mask
	for _, factor := range []uint64{0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb} {
		x = x * factor & mask
		x ^= x >> (width/2 + 1)
	}
	return x
}

// fill adds the ids from one place to another.
func (p ids) fill(f filter.Filter, from, to uint64) error {
	for i := from; i < to; i++ {
		if _, err := f.Add(p(i)); err != nil {
			return err
		}
	}
	return nil
}

// yes asks about the ids after the n of the set, and returns the share that gets one.
func (p ids) yes(f filter.Filter, n uint64, questions int) float64 {
	yes := 0
	for i := range uint64(questions) {
		if f.MayContain(p(n + i)) {
			yes++
		}
	}
	return float64(yes) / float64(questions)
}
