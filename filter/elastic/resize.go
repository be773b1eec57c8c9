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
			f.keys, f.exact, f.floor = 0, true, 0
			f.resized()
		}
		return err
	})
}

// change makes a change under the lock, unless the filter is closed.
func (f *Filter) change(do func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errClosed
	}
	return do()
}

// finishStride is how many trees FinishResize splits before it lets other writers in.
const finishStride = 1 << 12

// FinishResize returns when no doubling has anything left to do. Other writers can go
// on meanwhile.
func (f *Filter) FinishResize() {
	for f.Unsplit() > 0 {
		_ = f.change(func() error { // a closed filter is left as it is
			f.table.splitNext(finishStride)
			return nil
		})
	}
}

// Unsplit returns how many bucket trees a doubling has left to be split; 0 if the filter
// is closed.
func (f *Filter) Unsplit() (n uint64) {
	_ = f.change(func() error {
		n = f.table.slow.unsplit
		return nil
	})
	return n
}

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
func (f *Filter) resized() { f.retry, f.thin = 0, math.MaxUint64 }

// growIfNeeded doubles the filter if the share of set bits is above the threshold. If
// there is no memory the rate rises meanwhile, and it is tried again when it has risen
// noticeably. While trees are not split their bits count twice.
func (f *Filter) growIfNeeded() {
	t := &f.table
	if t.slow.unsplit > 0 || t.set <= t.limit || t.set < f.retry || t.slow.doublings == f.shape.Growth {
		return
	}
	if f.double() != nil {
		f.postpone()
	}
}

// postpone says when doubling is tried again after it failed.
func (f *Filter) postpone() { f.retry = f.table.set + max(1, f.Bits()/64) }

// maybeShrink halves the filter while the share of set bits is below a quarter of the
// threshold and no bucket overflows by it. To find that out takes time in proportion to
// the size, so after a failure it is tried again only when the number of keys has fallen
// by another 1,000th of the size, or by a quarter.
func (f *Filter) maybeShrink() {
	if f.keys <= f.thin {
		f.shrinkToFit()
	}
}

// shrinkToFit is maybeShrink whatever failed before.
func (f *Filter) shrinkToFit() {
	t := &f.table
	for t.slow.doublings > f.floor && t.set < t.limit/4 {
		if f.halve(f.shape.Threshold) != nil {
			f.thin = f.keys - min(f.keys, max(1, min(f.Bits()>>10, f.keys/4)))
			return
		}
	}
}

// insert puts all fingerprints of a key into their buckets and sets its bits, or changes
// nothing.
func (f *Filter) insert(xs []uint64) error {
	t := &f.table
	if t.slow.doublings == f.shape.Growth && t.slow.unsplit == 0 && t.set > t.limit {
		return errBits // it should have grown and never can
	}
	for !t.add(xs) {
		if err := f.makeRoom(xs); err != nil {
			return err
		}
	}
	return nil
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
	return factor*float64(t.set) < t.threshold*float64(t.size()>>t.slow.doublings<<e)
}

func hasCopies(all []entry) bool {
	for i, e := range all {
		if slices.Contains(all[:i], e) {
			return true
		}
	}
	return false
}
