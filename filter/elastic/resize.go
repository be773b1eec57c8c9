package elastic

import (
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
)

// copiesFactor is how many times the size that the set-bit rate asks for the filter
// may get because copies of a fingerprint overflow a bucket tree. They stay together
// whatever the size; doubling only takes their neighbours away.
const copiesFactor = 8

// Grow doubles the filter, which about halves the share of set bits. From then on
// it does not shrink below this size by itself. The work on the buckets is left to
// the changes that follow, or to Settle.
func (f *Filter) Grow() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errClosed
	}
	if err := f.expand(); err != nil {
		return err
	}
	f.floor = f.doublings
	return nil
}

// Shrink halves the filter. It refuses to go below the initial size, with an error
// that wraps [errors.ErrUnsupported], and with ErrFull if buckets would overflow or
// the share of set bits would pass the threshold. Nothing was changed then.
func (f *Filter) Shrink() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errClosed
	}
	if err := f.compress(); err != nil {
		return err
	}
	f.floor = min(f.floor, f.doublings)
	return nil
}

// expand doubles the filter. After an error it is as before.
func (f *Filter) expand() error { return f.expandTo(f.doublings + 1) }

// expandTo doubles the filter until that was done e times. All memory is taken
// first: after an error the filter is as before.
func (f *Filter) expandTo(e int) error {
	if e > f.shape.Growth {
		return errBits
	}
	var arrays []*fast
	for d := f.doublings + 1; d <= e; d++ {
		a, err := newFast(f.shape.Bits << d)
		if err != nil {
			return err
		}
		arrays = append(arrays, a)
	}
	if err := f.slow.reserve(e + 1); err != nil {
		return err
	}
	for _, a := range arrays {
		f.double(a)
	}
	return nil
}

// double doubles the filter, a being its new bits and the block of buckets being
// reserved. Only one expansion can be under way: an earlier one is finished first.
func (f *Filter) double(a *fast) {
	f.settleAll()
	f.fast.Load().double(a)
	_ = f.slow.grow() // cannot fail: its block is there
	f.unsettled, f.scan = f.slow.segment<<f.doublings, 0
	f.doublings++
	f.set *= 2
	f.retry = 0
	f.publish(a)
	if f.eager {
		f.settleAll()
	}
}

// adapt doubles the filter if the share of set bits is above the threshold. If
// there is no memory the rate rises meanwhile, and it is tried again when it has
// risen noticeably. While trees are unsettled their bits count twice.
func (f *Filter) adapt() {
	if f.unsettled > 0 || f.set <= f.limit || f.set < f.retry || f.doublings == f.shape.Growth {
		return
	}
	if f.expand() != nil {
		f.postpone()
	}
}

// postpone says when doubling is tried again after it failed.
func (f *Filter) postpone() { f.retry = f.set + max(1, f.Bits()/64) }

var (
	errSmallest = fmt.Errorf("elastic: shrink: the filter has its initial size: %w", errors.ErrUnsupported)
	errCrowded  = fmt.Errorf("elastic: shrink: buckets would overflow: %w", filter.ErrFull)
	errRate     = fmt.Errorf("elastic: shrink: the rate would pass the asked one: %w", filter.ErrFull)
)

// relax halves the filter while the share of set bits is below a quarter of the
// threshold and no bucket overflows by it. Looking takes time in proportion to the
// size, so it is done only when the number of keys has fallen by another 1,000th
// of the size.
func (f *Filter) relax() {
	if f.keys%max(1, f.Bits()>>10) == 0 {
		f.shrinkToFit()
	}
}

// shrinkToFit is relax at any number of keys.
func (f *Filter) shrinkToFit() {
	for f.doublings > f.floor && f.set < f.limit/4 && f.compress() == nil {
	}
}

// compress halves the filter, if buckets and the threshold allow it. After an error
// it is as before.
func (f *Filter) compress() error { return f.halve(f.shape.Threshold) }

// halve halves the filter, if buckets allow it and the share of set bits is at most
// the given one then. After an error it is as before.
func (f *Filter) halve(most float64) error {
	if f.doublings == 0 {
		return errSmallest
	}
	f.settleAll()
	a, err := f.fast.Load().halve()
	if err != nil {
		return err
	}
	set := a.count()
	if float64(set) > most*float64(a.size()) {
		return errRate
	}
	if !f.foldable() {
		return errCrowded
	}
	f.fold()
	f.doublings--
	f.slow.shrink()
	f.set, f.retry = set, 0
	f.publish(a)
	return nil
}

// foldable reports whether every tree of the lower half has room for its twin.
func (f *Filter) foldable() bool {
	for low := range uint64(1) << (f.doublings - 1) {
		for group := range f.slow.segment {
			if all := f.both(low, group); len(all) > int(f.slow.slots) && !f.slow.fit(all) {
				return false
			}
		}
	}
	return true
}

// both returns the entries of a tree of the lower half and of its twin.
func (f *Filter) both(low, group uint64) []entry {
	all := f.slow.gather(f.slow.tree(low, group), f.entries[:0])
	return f.slow.gather(f.slow.tree(low|1<<(f.doublings-1), group), all)
}

// fold moves all fingerprints of the upper half to the lower one.
func (f *Filter) fold() {
	parity := f.parity() ^ 1
	for low := range uint64(1) << (f.doublings - 1) {
		for group := range f.slow.segment {
			t := f.slow.tree(low, group)
			t.setSign(parity)
			for _, e := range f.slow.gather(f.slow.tree(low|1<<(f.doublings-1), group), f.entries[:0]) {
				f.slow.add(t, e.branch, e.fp)
			}
		}
	}
}
