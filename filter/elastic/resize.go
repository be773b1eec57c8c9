package elastic

import (
	"math"
	"slices"
)

// copiesFactor is how many times the size that the set-bit rate asks for the filter may
// get because copies of a fingerprint overflow a bucket tree. They stay together
// whatever the size; doubling only takes their neighbours away.
const copiesFactor = 8

// crowdFactor is how many times that size the filter may get to separate fingerprints that
// overflow a tree, beyond the first crowdBits. Chance does not come near it; keys or
// files that were made for it would take all memory otherwise.
const (
	crowdFactor = 256
	crowdBits   = 1 << 16
)

// Grow doubles the filter, which about halves the share of set bits. From then on it
// does not shrink below this size by itself. The work on the buckets is left to the
// changes that follow, or to FinishResize.
func (f *Filter) Grow() error {
	return f.change(func() error {
		err := f.double()
		if err == nil {
			f.floor = f.table.slow.doublings
		}
		return err
	})
}

// Shrink halves the filter. It refuses with ErrFull to go below the initial size, and if
// buckets would overflow or the share of set bits would pass the threshold. Nothing was
// changed then.
func (f *Filter) Shrink() error {
	return f.change(func() error {
		err := f.halve(f.shape.Threshold)
		if err == nil {
			f.floor = min(f.floor, f.table.slow.doublings)
		}
		return err
	})
}

// Clear takes all keys out and goes back to the initial size. A SlowFile keeps its
// length. The error is ErrStorage, and then nothing was changed.
func (f *Filter) Clear() error {
	return f.change(func() error {
		err := f.table.clear()
		if err == nil {
			f.table.keys.Store(0)
			f.exact, f.floor = true, 0
			f.resized()
		}
		return err
	})
}

// change makes a change with all stripes held, unless the filter is closed.
func (f *Filter) change(do func() error) error {
	f.stripes.lockAll()
	defer f.stripes.unlockAll()
	if f.closed {
		return errClosed
	}
	return do()
}

// FinishResize returns when no doubling has anything left to do. Several goroutines do
// it if there is much. Writers can go on meanwhile.
func (f *Filter) FinishResize() {
	if f.Unsplit() == 0 {
		return
	}
	together(f.Unsplit()/runTrees/chunkRuns, func() {
		for f.splitOne() {
		}
	})
	if f.Unsplit() > 0 { // others have not finished the last ones
		_ = f.change(func() error { // a closed filter is left as it is
			f.table.splitAll()
			return nil
		})
	}
}

// Unsplit returns how many bucket trees a doubling has left to be split; 0 if the filter
// is closed.
func (f *Filter) Unsplit() uint64 { return f.table.slow.unsplit.Load() }

// double doubles the filter. After an error it is as before.
func (f *Filter) double() error { return f.doubleTo(f.table.slow.doublings + 1) }

// doubleTo doubles the filter until that was done e times. After an error it is as
// before.
func (f *Filter) doubleTo(e int) error {
	if e > f.shape.Growth {
		return errBits
	}
	if err := f.table.doubleTo(e); err != nil {
		return err
	}
	f.resized()
	if f.eager {
		f.table.splitAll()
	}
	return nil
}

// halve halves the filter, if buckets allow it and the share of set bits is at most the
// given one then. After an error it is as before.
func (f *Filter) halve(most float64) error {
	err := f.table.halve(most)
	if err == nil {
		f.resized()
	}
	return err
}

// resized forgets what failed at the size of before.
func (f *Filter) resized() { f.retry, f.thin = 0, math.MaxInt64 }

// growIfNeeded doubles the filter if the share of set bits is above the threshold. If
// there is no memory the rate rises meanwhile, and it is tried again when it has risen
// noticeably.
func (f *Filter) growIfNeeded() {
	if f.mustGrow() && f.double() != nil {
		f.postpone()
	}
}

// overfull reports whether the share of set bits is above the threshold. While trees
// are not split their bits count twice, and it is not told. Splitting first corrects the
// bits, hence the order.
func (t *table) overfull() bool { return t.slow.unsplit.Load() == 0 && t.set.Load() > t.limit }

// mustGrow reports whether it is time to double the filter.
func (f *Filter) mustGrow() bool {
	t := &f.table
	return t.overfull() && t.set.Load() >= f.retry && t.slow.doublings < f.shape.Growth
}

// isFull reports whether the filter should have grown and never can.
func (f *Filter) isFull() bool {
	return f.table.slow.doublings == f.shape.Growth && f.table.overfull()
}

// postpone says when doubling is tried again after it failed.
func (f *Filter) postpone() { f.retry = f.table.set.Load() + int64(max(1, f.Bits()/64)) }

// mustShrink reports whether it is time to halve the filter, if buckets allow it: the
// share of set bits is below a quarter of the threshold. To find that out takes time in
// proportion to the size, so after a failure it is tried again only when the set bits
// have become fewer by those of keys for a 1,000th of the size, or by a quarter.
func (f *Filter) mustShrink() bool {
	return f.table.set.Load() <= f.thin && f.isSparse()
}

func (f *Filter) isSparse() bool {
	return f.table.slow.doublings > f.floor && f.table.set.Load() < f.table.limit/4
}

// maybeShrink halves the filter while it is time to, and no bucket overflows by it.
func (f *Filter) maybeShrink() {
	if f.mustShrink() {
		f.shrinkToFit()
	}
}

// shrinkToFit is maybeShrink whatever failed before.
func (f *Filter) shrinkToFit() {
	for f.isSparse() {
		if f.halve(f.shape.Threshold) != nil {
			set := f.table.set.Load()
			f.thin = set - max(1, min(int64(f.Bits()>>10)*int64(f.hashes), set/4))
			return
		}
	}
}

// makeRoom doubles the filter until all of xs find room, because some do not. It looks
// first whether they will: otherwise nothing is changed.
func (f *Filter) makeRoom(xs []uint64) error {
	f.table.splitAll()
	for e := f.table.slow.doublings; e <= f.shape.Growth; e++ {
		crowd := f.table.crowd(xs, e)
		if crowd == nil {
			return f.doubleTo(e)
		}
		if !f.exact && f.table.sparse(e+1, copiesFactor) && hasCopies(crowd) {
			return errCopies
		}
		if f.shape.Bits<<(e+1) > crowdBits && f.table.sparse(e+1, crowdFactor) {
			return errOverflow
		}
	}
	return errOverflow
}

// sparse reports whether after e doublings the table would be more than so many times as
// large as its set bits ask for.
func (t *table) sparse(e int, factor float64) bool {
	return factor*float64(t.set.Load()) < t.threshold*float64(t.size()>>t.slow.doublings<<e)
}

func hasCopies(all []entry) bool {
	for i, e := range all {
		if slices.Contains(all[:i], e) {
			return true
		}
	}
	return false
}
