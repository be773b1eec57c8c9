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

// target is the rate of Figure 1.
const target = 1e-4

// unitWidth is how many bits of an id tell it from the others of its unit: units are
// for 1,024 ids.
const unitWidth = 10

// The contenders.
const (
	ours   = "DPBF, ids in the map"
	papers = "DPBF, paper's layout"
	dbf    = "DBF"
	plain  = "plain"
)

// wish asks for the partition filter of a universe of ids of so many bits.
func wish(width int) partition.Config {
	return partition.Config{FPR: target, Universe: 1 << width, Depth: width - unitWidth}
}

// asPrinted is the shape with units of the bits that Eq. (1) gives, full where that has
// the rate; ours have four standard deviations more.
func asPrinted(width int) (partition.Shape, error) {
	s, err := wish(width).Shape()
	m := theory.PartitionUnitBits(float64(s.UnitIDs()), float64(s.Hashes), target)
	s.UnitBits, s.Full = uint64(m), uint64(m*math.Pow(target, 1/float64(s.Hashes)))
	return s, err
}

// build makes a contender for ids of so many bits; plain filters are for n of them.
func build(name string, width int, n uint64) (filter.Filter, error) {
	s, err := asPrinted(width)
	if err != nil {
		return nil, err
	}
	switch name {
	case ours:
		return partition.New(wish(width))
	case papers:
		return newLayout(s), nil
	case dbf:
		return dynamic.Build(dynamic.Shape{Positions: s.UnitBits, Hashes: s.Hashes, CounterBits: 1, Full: s.Full})
	case plain:
		return bloom.New(bloom.Config{Items: n, FPR: target})
	}
	return nil, fmt.Errorf("dpbf19: no contender %q", name)
}

// key is an id as filters want it that do not know ids.
func key(id uint64) filter.Key { return filter.Hash{}.Uint64(id) }

// keyFor is an id as the contender wants it: filters of ids take it as it is.
func keyFor(name string, id uint64) filter.Key {
	if name == ours || name == papers {
		return filter.Key(id)
	}
	return key(id)
}

// A population is a way in which ids lie in the universe: the i-th of n that are in the
// set and, where they are asked for, the i-th of those near them that are not.
type population struct{ present, absent func(n, i uint64) uint64 }

const (
	spread = "spread evenly"
	whole  = "whole units of 1,024"
)

// evenly spread.
func evenly(width int, seed uint32) population {
	return population{
		present: func(_, i uint64) uint64 { return permute(i, width, seed) },
		absent:  func(n, i uint64) uint64 { return permute(n+i, width, seed) },
	}
}

// aligned ids fill whole units, which is the best case of Eq. (2).
func aligned(width int, seed uint32) population {
	return population{present: func(_, i uint64) uint64 {
		return permute(i/1024, width-unitWidth, seed)<<unitWidth + i%1024
	}}
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

// fill adds the ids of a population from one place to another.
func (p population) fill(name string, f filter.Filter, from, to uint64) error {
	for i := from; i < to; i++ {
		if _, err := f.Add(keyFor(name, p.present(to, i))); err != nil {
			return err
		}
	}
	return nil
}
