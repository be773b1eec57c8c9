package elastic

import (
	"math"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
)

// Info describes the filter as it stands. Writers may be at work: one that has just
// passed the threshold is overfull for the moment until it has doubled. A filter that can
// still double is called unbounded; afterwards it tells its capacity. One that
// should have doubled and had no memory is overfull. SlowBits are all that was
// taken, also the part of a SlowFile that is kept for later. Details are
// the share of slots in use, the doublings that are left and the bucket trees that
// the last one has not split yet.
func (f *Filter) Info() filter.Info {
	f.stripes.locks[0].Lock()
	defer f.stripes.locks[0].Unlock()
	t := &f.table
	fill := float64(t.set.Load()) / float64(t.size())
	left := f.shape.Growth - t.slow.doublings
	starved := t.starved(f.shape)
	info := filter.Info{
		Kind:       "elastic",
		Keys:       f.Len(),
		Exact:      f.exact,
		FastBits:   fastBits(t.size()),
		SlowBits:   64 * t.slow.size(),
		FPR:        math.Pow(fill, float64(f.hashes)),
		Fill:       fill,
		Overfull:   starved,
		Unbounded:  left > 0 && !starved,
		Duplicates: filter.DuplicatesIgnored,
		Details: []filter.Detail{
			{Name: "slots in use", Value: strconv.FormatFloat(100*t.slotFill(), 'f', 1, 64) + " %"},
			{Name: "doublings left", Value: strconv.Itoa(left)},
			{Name: "unsplit trees", Value: strconv.FormatUint(f.Unsplit(), 10)},
		},
	}
	if left == 0 {
		info.Capacity = f.shape.Capacity()
	}
	return info
}

// starved reports whether the table should have grown and has not: there was no memory,
// here or where it was stored. Keys that end all growth do not count: writers can add as many
// at once as there are stripes.
func (t *table) starved(s Shape) bool {
	over := t.limit
	if t.slow.doublings == s.Growth {
		over += int64(s.Hashes * mostStripes)
	}
	return t.slow.unsplit.Load() == 0 && t.set.Load() > over
}
