package elastic

import (
	"math"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
)

// Info describes the filter as it stands. It waits for writers. A filter that can
// still double is called unbounded; afterwards it tells its capacity. One that
// should have doubled and had no memory is overfull. SlowBits are all that was
// taken, also the part of a SlowFile that is kept for later. Details are
// the share of slots in use, the doublings that are left and the bucket trees that
// the last one has not settled yet.
func (f *Filter) Info() filter.Info {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.fast.Load()
	fill := float64(f.set) / float64(a.size())
	left := f.shape.Growth - f.doublings
	starved := f.starved()
	info := filter.Info{
		Kind:       "elastic",
		Keys:       f.keys,
		Exact:      f.exact,
		FastBits:   64 * uint64(len(a.words)),
		SlowBits:   64 * f.slow.size(),
		FPR:        math.Pow(fill, float64(f.hashes)),
		Fill:       fill,
		Overfull:   starved,
		Unbounded:  left > 0 && !starved,
		Duplicates: filter.DuplicatesIgnored,
		Details: []filter.Detail{
			{Name: "slots in use", Value: strconv.FormatFloat(100*f.slotFill(), 'f', 1, 64) + " %"},
			{Name: "doublings left", Value: strconv.Itoa(left)},
			{Name: "unsettled trees", Value: strconv.FormatUint(f.unsettled, 10)},
		},
	}
	if left == 0 {
		info.Capacity = f.shape.Capacity()
	}
	return info
}

// starved reports whether the filter should have grown and has not: there was no
// memory, here or where it was stored. The key that ends all growth does not count.
func (f *Filter) starved() bool {
	over := f.limit
	if f.doublings == f.shape.Growth {
		over += uint64(f.hashes)
	}
	return f.unsettled == 0 && f.set > over
}

// slotFill returns the share of slots that hold fingerprints, those of level 2
// included: the load rate of [EBF21] Sec. 5.1.3.
func (f *Filter) slotFill() float64 {
	trees := float64(f.slow.segment) * math.Ldexp(1, f.doublings)
	slots := float64(f.Bits())
	if f.slow.branches > 1 {
		slots += trees
	}
	return float64(f.prints) / (slots * float64(f.slow.slots))
}
