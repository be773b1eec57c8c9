package partition

import (
	"math"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
)

// leafBits is the memory of a leaf beside its offsets and its unit, on a 64-bit
// machine.
const leafBits = 8 * 48

// refBits is the memory of a ref.
const refBits = 32

// Info describes the filter as it stands. It looks at every unit, not at keys.
func (f *Filter) Info() filter.Info {
	fast, slow := f.memory()
	return filter.Info{
		Kind:      "partition",
		Keys:      f.count,
		Exact:     f.shape.Universe > 0,
		FastBits:  fast,
		SlowBits:  slow,
		FPR:       f.fpr(),
		Fill:      f.fillShare(),
		Unbounded: true,
		Details: []filter.Detail{
			{Name: "units", Value: strconv.Itoa(f.units.n)},
			{Name: "keys per unit", Value: strconv.FormatUint(f.shape.UnitIDs(), 10)},
			{Name: "depth", Value: strconv.Itoa(f.depth()) + " of " + strconv.Itoa(f.shape.Depth)},
			{Name: "id bits", Value: strconv.Itoa(f.shape.IDBits)},
			{Name: "rate of equal ids", Value: strconv.FormatFloat(f.floor(), 'g', 3, 64)},
		},
	}
}

// memory returns all bits that the filter holds. Nothing is left out: units, the
// walk and its table are fast, the map with its room for more is slow. It follows
// from the set alone: every part has the room that its size asks for.
func (f *Filter) memory() (fast, slow uint64) {
	fast = 64*f.units.words(f.units.n) + refBits*uint64(roundUp(len(f.tree.pairs))+len(f.tree.top))
	slow = f.slow + leafBits*uint64(roundUp(len(f.leaves)))
	return fast, slow
}

// depth returns that of the deepest leaf that has ids.
func (f *Filter) depth() (deepest int) {
	for i := range f.leaves {
		deepest = max(deepest, int(f.leaves[i].depth))
	}
	return deepest
}

func (f *Filter) fillShare() float64 {
	if f.units.n == 0 {
		return 0
	}
	return float64(f.set) / float64(f.bits) / float64(f.units.n)
}

// floor returns the odds that an absent Key has the id of a present one.
func (f *Filter) floor() float64 {
	if f.shape.Universe > 0 {
		return 0
	}
	return math.Ldexp(float64(f.count), -f.shape.IDBits)
}

// fpr returns the rate for keys that are spread evenly over the universe: that of
// each unit, weighed with its part of it.
func (f *Filter) fpr() float64 {
	floor := f.floor()
	return min(1, floor+(1-floor)*f.rateBelow(f.tree.root, 0, 0)/(float64(f.last)+1))
}

// rateBelow returns the false positives to be expected if all ids of a node were
// asked for. It goes in the order of the ids, so that equal sets give equal sums.
func (f *Filter) rateBelow(r ref, depth int, prefix uint64) float64 {
	switch {
	case r == none:
		return 0
	case r.inner():
		return f.rateBelow(f.tree.pairs[2*uint64(r)], depth+1, 2*prefix) + f.rateBelow(f.tree.pairs[2*uint64(r)+1], depth+1, 2*prefix+1)
	}
	return f.universeBelow(depth, prefix) * power(float64(f.leaves[r.unit()].set)/float64(f.bits), f.hashes)
}

// universeBelow returns how many ids of the universe belong to a node.
func (f *Filter) universeBelow(depth int, prefix uint64) float64 {
	below := f.shape.IDBits - depth
	if left := f.last - prefix<<below; below < 64 && left>>below == 0 {
		return float64(left) + 1
	}
	return math.Ldexp(1, below)
}

// power returns x^n for n >= 0.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			y *= x
		}
		x *= x
	}
	return y
}
