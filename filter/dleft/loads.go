package dleft

import "iter"

// Loads gives the subtable of every bucket, from 0, and how many of its cells
// are used: what the fluid limit ([SteadyLoads]) speaks of.
func (f *Filter) Loads() iter.Seq2[int, int] {
	return func(yield func(subtable, load int) bool) {
		for bucket := range f.shape.buckets() {
			if !yield(int(bucket/f.buckets), int(f.load(bucket))) {
				return
			}
		}
	}
}

// Moved returns how many keys were moved since the filter was made or read,
// because another found all its buckets full. It is 0 at the usual loads: a
// filter where it rises is near the first ErrFull.
func (f *Filter) Moved() uint64 { return f.moved }
