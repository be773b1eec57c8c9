package deletable

import (
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Union adds what is in other, a *Filter of equal shape. A bit that is set in both
// is a collision: a key that is in both is pinned afterwards, as if it had been
// added twice. A union with itself pins all keys.
func (f *Filter) Union(other filter.Filter) error {
	return merging.Union(f, other)
}

// PrepareUnion compares the shapes, which is all that can fail, and returns the
// function that unites.
func (f *Filter) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	return merging.Prepare(f, other, f.unite)
}

func (f *Filter) unite(o *Filter) {
	most := f.keys + o.keys
	least := max(f.keys, o.keys)
	f.marked = bitvec.Vector(f.marks).Or(o.marks)
	f.markShared(o.cells)
	f.set = bitvec.Vector(f.cells).Or(o.cells)
	f.capacity = max(f.capacity, o.capacity)
	// How many keys were in both is unknown; the fill is a hint.
	f.keys = min(most, max(least, f.estimate()), f.set)
}

// Intersect keeps what is in both f and other, a *Filter of equal shape. The rate
// is at most that of either, though above what the common keys alone would give.
//
// A region is clean afterwards if it was in either: the package comment has the
// reason. Keys that were in one of them only must not be deleted any more, even
// if they are still taken for present.
func (f *Filter) Intersect(other filter.Filter) error {
	o, err := merging.Peer(f, other)
	if err != nil {
		return err
	}
	f.marked = bitvec.Vector(f.marks).And(o.marks)
	f.set = bitvec.Vector(f.cells).And(o.cells)
	f.capacity = max(f.capacity, o.capacity)
	f.keys = min(f.keys, o.keys, f.estimate(), f.set)
	return nil
}

// markShared marks the regions of cells that are set in both f and other.
func (f *Filter) markShared(other []uint64) {
	for i, w := range other {
		for both := f.cells[i] & w; both != 0; both &= both - 1 {
			r := f.region.of(64*uint64(i) + uint64(bits.TrailingZeros64(both)))
			if bitvec.Vector(f.marks).Set(r) {
				f.marked++
			}
		}
	}
}
