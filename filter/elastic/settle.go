package elastic

import "math"

// The lazy update of [EBF21] Sec. 3.3.1. An expansion doubles the bits, both halves
// alike, and adds empty buckets. Its work on the buckets is done tree by tree:
// settling a tree moves the fingerprints that belong to its twin in the upper half
// and clears the bits of what is empty then. Until it is done, both halves' bits
// are those of before, so that nothing is denied, and writers look for the
// fingerprints of both in the lower one.
//
// A tree's sign bit is that of the filter if the tree is settled. An expansion turns
// the filter's over, which makes all signs wrong at once without touching one;
// compression leaves all as they are.

// pace returns how many trees the scan settles after each change: enough to be
// through after a quarter of the keys that lead to the next expansion.
func (s Shape) pace() uint64 {
	trees := float64(s.Hashes) / (s.load() * float64(s.Branches)) // for each key, when full
	return uint64(min(8+math.Ceil(4*trees), 1<<20))
}

// lowMask selects the segment of the lower half that holds what belongs to a
// segment while it is not settled.
func (f *Filter) lowMask() uint64 { return 1<<(f.doublings-1) - 1 }

// settled reports whether a tree of the lower half has been split.
func (f *Filter) settled(low, group uint64) bool {
	return f.slow.tree(low, group).sign() == f.sign
}

// settle splits an unsettled tree of the lower half.
func (f *Filter) settle(low, group uint64) {
	high := low | 1<<(f.doublings-1)
	from, to := f.slow.tree(low, group), f.slow.tree(high, group)
	if all := f.slow.gather(from, f.entries[:0]); len(all) > 0 {
		f.slow.wipe(from)
		for _, e := range all {
			t := from
			if e.fp>>(f.doublings-1)&1 != 0 {
				t = to
			}
			f.slow.add(t, e.branch, e.fp) // fits: both get a part of what fitted
		}
		f.clearVacant(low, group, from, all)
		f.clearVacant(high, group, to, all)
	}
	from.setSign(f.sign)
	to.setSign(f.sign)
	f.unsettled--
}

// clearVacant clears the bits of the branches of t that are empty now. Only those
// of the entries can have been set.
func (f *Filter) clearVacant(segment, group uint64, t tree, of []entry) {
	a := f.fast.Load()
	first := segment<<f.sizeBits + group*f.slow.branches
	for _, e := range of {
		if f.slow.vacant(t, e.branch) {
			f.set -= a.clear(first + e.branch)
		}
	}
}

// advance lets the scan settle the next trees, at most the given number.
func (f *Filter) advance(trees uint64) {
	if f.unsettled == 0 {
		return
	}
	segment, group := f.scan/f.slow.segment, f.scan%f.slow.segment
	for ; trees > 0 && f.unsettled > 0; trees-- {
		if !f.settled(segment, group) {
			f.settle(segment, group)
		}
		if group++; group == f.slow.segment {
			segment, group = segment+1, 0
		}
		f.scan++
	}
}

// settleAll ends the lazy phase, if there is one.
func (f *Filter) settleAll() { f.advance(math.MaxUint64) }

// Unsettled returns how many bucket trees an expansion has left to be split.
func (f *Filter) Unsettled() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unsettled
}

// settleStride is how many trees Settle splits before it lets other writers in.
const settleStride = 1 << 12

// Settle returns when no expansion has anything left to do. Other writers can go
// on meanwhile.
func (f *Filter) Settle() {
	for !f.settleSome() {
	}
}

func (f *Filter) settleSome() (done bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return true
	}
	f.advance(settleStride)
	return f.unsettled == 0
}
