package deletable

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Info describes the filter as it stands. Its details are the share of regions
// without collisions and how many keys of the set can be deleted, an estimate.
func (f *Filter) Info() filter.Info {
	fill := float64(f.set) / float64(f.size)
	return filter.Info{
		Kind:       "deletable",
		Keys:       f.keys,
		Capacity:   f.capacity,
		FastBits:   64 * uint64(len(f.cells)+len(f.marks)),
		FPR:        math.Pow(fill, float64(f.hashes)),
		Fill:       fill,
		Overfull:   f.overfull(),
		Duplicates: filter.DuplicatesPin,
		Details: []filter.Detail{
			{Name: "clean regions", Value: percent(f.CleanRegions())},
			{Name: "deletable keys", Value: percent(f.Deletability())},
		},
	}
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// overfull goes by the fill, so that bits which deleted keys left behind count. It
// allows the number of keys five times its spread, so that a filter with exactly
// the keys it was made for does not complain.
func (f *Filter) overfull() bool {
	limit := float64(f.capacity) * (1 + 5/math.Sqrt(float64(f.size)))
	return f.capacity > 0 && float64(f.estimate()) > limit
}

// estimate returns the number of keys that explains the fill.
func (f *Filter) estimate() uint64 {
	return sizing.RoundKeys(theory.BloomCardinality(float64(f.size), float64(f.hashes), float64(f.set)))
}

// CleanRegions returns the share of regions without collisions. It falls as keys
// are added and never rises.
func (f *Filter) CleanRegions() float64 {
	return 1 - float64(f.marked)/float64(f.shape.usedRegions())
}

// Deletability returns an estimate of the share of keys in the set that can be
// deleted, 1 for none. Each set bit of a clean region belongs to one key, so that
// the average key has as many free bits as there are such bits per key.
func (f *Filter) Deletability() float64 {
	if f.keys == 0 {
		return 1
	}
	k := float64(f.hashes)
	p := min(1, f.freeCells()/(k*float64(f.keys)))
	return -math.Expm1(k * math.Log1p(-p))
}

// sampleCells is how many cells are looked at to estimate the others.
const sampleCells = 1 << 16

// freeCells estimates how many set cells are in clean regions, from regions at
// equal distances. Filters of up to sampleCells cells are counted.
func (f *Filter) freeCells() float64 {
	s, used := f.shape.RegionBits(), f.shape.usedRegions()
	regions := min(used, max(1, sampleCells/s))
	var free, seen uint64
	for i := range regions {
		r := i * (used / regions)
		first := r * s
		end := min(first+min(s, sampleCells), f.size)
		seen += end - first
		if f.marks[r/64]>>(r%64)&1 == 0 {
			free += f.countCells(first, end)
		}
	}
	return float64(free) / float64(seen) * float64(f.size)
}

// countCells returns how many of the cells from first to before end are set;
// first < end.
func (f *Filter) countCells(first, end uint64) (n uint64) {
	a, z := first/64, (end-1)/64
	for i := a; i <= z; i++ {
		w := f.cells[i]
		if i == z {
			w &= ^uint64(0) >> (63 - (end-1)%64)
		}
		if i == a {
			w &= ^uint64(0) << (first % 64)
		}
		n += uint64(bits.OnesCount64(w))
	}
	return n
}
