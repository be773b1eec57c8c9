package dpbf19

import (
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/partition"
)

// target is the rate of Figure 1, and the universe has ids of 32 bits.
const (
	target   = 1e-4
	universe = 1 << 32
)

// wish asks for the partition filter of these experiments: units for 1024 ids.
var wish = partition.Config{FPR: target, Universe: universe}

// list returns the dynamic filter with units as those of a partition filter: as
// many bits and hashes, and full at the same fill.
func list(s partition.Shape) dynamic.Shape {
	return dynamic.Shape{Positions: s.UnitBits, Hashes: s.Hashes, CounterBits: 1, Full: s.Full}
}

// key is an id as filters want it that do not know ids.
func key(id uint64) filter.Key { return filter.Hash{}.Uint64(id) }

// A population is a way in which ids lie in the universe: the i-th of n that are in
// the set, and the i-th of those near them that are not.
type population struct {
	name            string
	present, absent func(n, i uint64) uint64
	absentees       func(n uint64) uint64 // how many different ones absent gives
}

// many is how many absent ids there are where their number does not matter.
func many(uint64) uint64 { return 1 << 31 }

// The populations, all of one seed.
func populations(seed uint32) []population {
	return []population{evenly(seed), clusters(seed), runs(seed), aligned(seed)}
}

// evenly spread.
func evenly(seed uint32) population {
	return population{
		"spread evenly",
		func(_, i uint64) uint64 { return permute(i, 32, seed) },
		func(n, i uint64) uint64 { return permute(n+i, 32, seed) },
		many,
	}
}

// clusters are twenty ranges, of which one id in four to eight is taken.
func clusters(seed uint32) population {
	wide := func(n uint64) int { return bits.Len64(n/20) + 2 }
	taken := func(n uint64) uint64 { return n/20 + 1 }
	at := func(n, i, rank uint64) uint64 {
		return i%20*(universe/20) + permute(rank, wide(n), seed)
	}
	return population{
		"20 clusters, one id in 4 to 8",
		func(n, i uint64) uint64 { return at(n, i, i/20) },
		func(n, i uint64) uint64 { return at(n, i, taken(n)+i/20) },
		func(n uint64) uint64 { return 20 * (1<<wide(n) - taken(n)) },
	}
}

// runs are a thousand neighbours each; what is absent follows a run at once.
func runs(seed uint32) population {
	at := func(run, i uint64) uint64 { return permute(run, 20, seed)<<12 + i }
	all := func(n uint64) uint64 { return max(1, n/1000) }
	return population{
		"runs of 1,000",
		func(_, i uint64) uint64 { return at(i/1000, i%1000) },
		func(n, i uint64) uint64 { return at(i%all(n), 1000+i/all(n)) },
		func(n uint64) uint64 { return 3000 * all(n) },
	}
}

// aligned runs fill whole units, which is the best case of Eq. (2).
func aligned(seed uint32) population {
	at := func(unit, i uint64) uint64 { return permute(unit, 22, seed)<<10 + i }
	return population{
		"whole units of 1,024",
		func(_, i uint64) uint64 { return at(i/1024, i%1024) },
		func(n, i uint64) uint64 { return at(n/1024+1+i/1024, i%1024) },
		many,
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

// fill puts n ids into a filter of ids.
func (p population) fill(f *partition.Filter, n uint64) error {
	for i := range n {
		if _, err := f.Add(filterKey(p.present(n, i))); err != nil {
			return err
		}
	}
	return nil
}

// filterKey is an id as a partition filter wants it: itself.
func filterKey(id uint64) filter.Key { return filter.Key(id) }
