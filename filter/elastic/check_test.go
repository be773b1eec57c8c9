package elastic

import "fmt"

// check reports whether the filter is what its documentation says.
func (f *Filter) check() error {
	f.stripes.lockAll()
	defer f.stripes.unlockAll()
	if err := f.shape.check(); err != nil {
		return err
	}
	t, s := &f.table, f.table.slow
	a := f.fast.Load()
	if got := int64(a.count()); got != t.set.Load() || a.size() != f.shape.Bits<<s.doublings {
		return fmt.Errorf("elastic: %d of %d bits are set, counted %d after %d doublings", got, a.size(), t.set.Load(), s.doublings)
	}
	prints, unsplit := int64(0), uint64(0)
	for segment, group := range s.trees() {
		split, err := t.checkTree(segment, group)
		if err != nil {
			return err
		}
		if !split {
			unsplit++
		}
		prints += int64(len(s.tree(segment, group).gather(nil)))
	}
	if prints != t.prints.Load() || unsplit != 2*s.unsplit.Load() {
		return fmt.Errorf("elastic: counted %d fingerprints and %d unsplit trees, found %d and %d in both halves", t.prints.Load(), s.unsplit.Load(), prints, unsplit)
	}
	if f.exact && !f.agrees(t.keys.Load()) {
		return fmt.Errorf("elastic: %d keys and %d fingerprints", t.keys.Load(), prints)
	}
	return nil
}

// checkTree checks that fingerprints are where they belong, that those of level 2 had no
// room in level 1, and that the bits are those of the buckets: both halves' of the lower
// tree if it is not split.
func (t *table) checkTree(segment, group uint64) (split bool, err error) {
	s := t.slow
	home := segment
	known := s.doublings // bits of a fingerprint that the segment tells
	if known > 0 {
		if low := segment & (1<<(known-1) - 1); !s.isSplit(low, group/runTrees) {
			home = low
			known--
		}
	}
	tree := s.tree(home, group)
	var load [maxBranches]uint64
	for _, e := range tree.gather(nil) {
		if e.branch >= s.branchesOf(group) || e.fp>>s.width != 0 || (e.fp^home)&(1<<known-1) != 0 {
			return false, fmt.Errorf("elastic: tree %d of segment %d holds %#x of branch %d", group, home, e.fp, e.branch)
		}
		load[e.branch]++
	}
	a := t.fast.Load()
	for branch := range s.branchesOf(group) {
		if n := tree.lower(branch).n; n > s.slots || n != min(load[branch], s.slots) {
			return false, fmt.Errorf("elastic: tree %d of segment %d: branch %d has %d of %d in level 1", group, home, branch, n, load[branch])
		}
		if i := s.firstBit(segment, group) + branch; a.has(i) != (load[branch] > 0) {
			return false, fmt.Errorf("elastic: bit %d is set: %t, its bucket has %d", i, a.has(i), load[branch])
		}
	}
	return known == s.doublings, nil
}
