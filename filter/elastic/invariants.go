package elastic

import "fmt"

// check reports whether the filter is what its documentation says.
func (f *Filter) check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.shape.check(); err != nil {
		return err
	}
	a := f.fast.Load()
	if got := a.count(); got != f.set || a.size() != f.shape.Bits<<f.doublings {
		return fmt.Errorf("elastic: %d of %d bits are set, counted %d after %d doublings", got, a.size(), f.set, f.doublings)
	}
	prints, unsettled := uint64(0), uint64(0)
	for segment := range uint64(1) << f.doublings {
		for group := range f.slow.segment {
			settled, err := f.checkTree(segment, group)
			if err != nil {
				return err
			}
			if !settled {
				unsettled++
			}
			prints += uint64(len(f.slow.gather(f.slow.tree(segment, group), nil)))
		}
	}
	if prints != f.prints || unsettled != 2*f.unsettled {
		return fmt.Errorf("elastic: counted %d fingerprints and %d unsettled trees, found %d and %d in both halves", f.prints, f.unsettled, prints, unsettled)
	}
	if f.exact && (f.keys > f.prints || f.prints > f.keys*uint64(f.hashes)) {
		return fmt.Errorf("elastic: %d keys and %d fingerprints", f.keys, f.prints)
	}
	return nil
}

// checkTree checks that fingerprints are where they belong, that those of level 2
// had no room in level 1, and that the bits are those of the buckets: both halves'
// of the lower tree if it is not settled.
func (f *Filter) checkTree(segment, group uint64) (settled bool, err error) {
	home := segment
	known := uint64(f.doublings) // bits of a fingerprint that the segment tells
	if f.doublings > 0 {
		if low := segment & f.lowMask(); !f.settled(low, group) {
			home = low
			known--
		}
	}
	t := f.slow.tree(home, group)
	var load [maxBranches]uint64
	for _, e := range f.slow.gather(t, nil) {
		if e.branch >= f.branchesOf(group) || e.fp>>f.slow.width != 0 || (e.fp^home)&(1<<known-1) != 0 {
			return false, fmt.Errorf("elastic: tree %d of segment %d holds %#x of branch %d", group, home, e.fp, e.branch)
		}
		load[e.branch]++
	}
	a := f.fast.Load()
	for branch := range f.branchesOf(group) {
		if n := f.slow.lower(t, branch).len(); n > f.slow.slots || n != min(load[branch], f.slow.slots) {
			return false, fmt.Errorf("elastic: tree %d of segment %d: branch %d has %d of %d in level 1", group, home, branch, n, load[branch])
		}
		if i := segment<<f.sizeBits + group*f.slow.branches + branch; a.has(i) != (load[branch] > 0) {
			return false, fmt.Errorf("elastic: bit %d is set: %t, its bucket has %d", i, a.has(i), load[branch])
		}
	}
	return known == uint64(f.doublings), nil
}
