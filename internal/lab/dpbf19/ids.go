package dpbf19

import (
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
