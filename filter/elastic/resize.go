package elastic

import (
	"fmt"
	"iter"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
)

// copiesFactor is how many times the size that the set-bit rate asks for the filter
// may get because copies of a fingerprint overflow a bucket tree. They stay together
// whatever the size; doubling only takes their neighbours away.
const copiesFactor = 8

// crowdFactor is how many times that size the filter may get to part fingerprints that
// overflow a tree, beyond the first crowdBits. Chance does not come near it; keys or
// files that were made for it would take all memory otherwise.
const (
	crowdFactor = 256
	crowdBits   = 1 << 16
)

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

// Shrink halves the filter. It refuses with ErrFull to go below the initial size, and
// if buckets would overflow or
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

// Clear takes all keys out and goes back to the initial size. A SlowFile keeps its
// length. The error is ErrStorage, and then nothing was changed.
func (f *Filter) Clear() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errClosed
	}
	a, err := newFast(f.shape.Bits)
	if err != nil {
		return err
	}
	f.slow.empty()
	f.doublings, f.floor, f.retry, f.thin = 0, 0, 0, math.MaxUint64
	f.set, f.prints, f.keys, f.exact = 0, 0, 0, true
	f.sign, f.unsettled, f.scan = 0, 0, 0
	f.publish(a)
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
	f.unsettled, f.scan, f.sign = f.slow.segment<<f.doublings, 0, f.sign^1
	f.doublings++
	f.set *= 2
	f.retry, f.thin = 0, math.MaxUint64
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
	errSmallest = fmt.Errorf("elastic: shrink: the filter has its least size: %w", filter.ErrFull)
	errCrowded  = fmt.Errorf("elastic: shrink: buckets would overflow: %w", filter.ErrFull)
	errRate     = fmt.Errorf("elastic: shrink: the rate would pass the asked one: %w", filter.ErrFull)
)

// relax halves the filter while the share of set bits is below a quarter of the
// threshold and no bucket overflows by it. To find that out takes time in proportion to
// the size, so after a failure it is tried again only when the number of keys has
// fallen by another 1,000th of the size, or by a quarter.
func (f *Filter) relax() {
	if f.keys <= f.thin {
		f.shrinkToFit()
	}
}

// shrinkToFit is relax whatever failed before.
func (f *Filter) shrinkToFit() {
	for f.doublings > f.floor && f.set < f.limit/4 {
		if f.compress() != nil {
			f.thin = f.keys - min(f.keys, max(1, min(f.Bits()>>10, f.keys/4)))
			return
		}
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
	if !f.fold() {
		return errCrowded
	}
	f.doublings--
	f.slow.shrink()
	f.set, f.retry, f.thin = set, 0, math.MaxUint64
	f.publish(a)
	return nil
}

// fold moves all fingerprints of the upper half to the lower one. If a tree overflows
// by that it says so, and all is as before.
func (f *Filter) fold() bool {
	for low, group := range f.upper() {
		t := f.slow.tree(low, group)
		for _, e := range f.slow.gather(f.twin(low, group), f.entries[:0]) {
			if !f.slow.add(t, e.branch, e.fp) {
				f.unfold(low, group)
				return false
			}
		}
	}
	return true
}

// unfold takes back what fold has put into trees up to the given one. The upper half
// still has it all.
func (f *Filter) unfold(lastLow, lastGroup uint64) {
	for low, group := range f.lit() {
		t := f.slow.tree(low, group)
		all := f.slow.gather(t, f.entries[:0])
		f.slow.wipe(t)
		for _, e := range all {
			if e.fp>>(f.doublings-1)&1 == 0 {
				f.slow.add(t, e.branch, e.fp)
			}
		}
		if low == lastLow && group == lastGroup {
			return
		}
	}
}

// twin returns the tree of the upper half that belongs to one of the lower half.
func (f *Filter) twin(low, group uint64) tree { return f.slow.tree(low|1<<(f.doublings-1), group) }

// upper returns the trees of the upper half that have fingerprints, by their twins in
// the lower half. What is going to be read is touched some trees ahead, so that the
// cache misses overlap.
func (f *Filter) upper() iter.Seq2[uint64, uint64] {
	return func(yield func(low, group uint64) bool) {
		var ahead [foldAhead][2]uint64
		n := 0
		pass := func() bool {
			f.touch(ahead[:n])
			for _, t := range ahead[:n] {
				if !yield(t[0], t[1]) {
					return false
				}
			}
			n = 0
			return true
		}
		for low, group := range f.lit() {
			ahead[n] = [2]uint64{low, group}
			if n++; n == foldAhead && !pass() {
				return
			}
		}
		pass()
	}
}

const foldAhead = 16

// touch reads trees of the lower half and their twins.
func (f *Filter) touch(trees [][2]uint64) {
	seen := uint64(0)
	for _, t := range trees {
		seen |= f.slow.tree(t[0], t[1]).head() | f.twin(t[0], t[1]).head()
	}
	f.seen = seen
}

// lit is upper without looking ahead. All trees are settled, so the bits tell which
// are empty, and most are when it is time to halve: their memory need not be read.
func (f *Filter) lit() iter.Seq2[uint64, uint64] {
	a, half := f.fast.Load(), f.Bits()/2
	return func(yield func(low, group uint64) bool) {
		next := uint64(0) // first bit behind the tree that was given last
		for i := range bitvec.Vector(a.words).Ones(half) {
			if i < next {
				continue
			}
			group, branch := f.slow.group(i & (1<<f.sizeBits - 1))
			next = i - branch + f.branchesOf(group)
			if !yield((i-half)>>f.sizeBits, group) {
				return
			}
		}
	}
}
