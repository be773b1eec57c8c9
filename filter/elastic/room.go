package elastic

import "slices"

// makeRoom doubles the filter until all of xs find room, because some do not. It
// looks first whether they will: otherwise nothing is changed.
func (f *Filter) makeRoom(xs []uint64) error {
	f.settleAll()
	for e := f.doublings; e <= f.shape.Growth; e++ {
		crowd := f.crowd(xs, e)
		if crowd == nil {
			return f.expandTo(e)
		}
		if !f.exact && f.sparse(e+1, copiesFactor) && hasCopies(crowd) {
			return errCopies
		}
		if f.shape.Bits<<(e+1) > crowdBits && f.sparse(e+1, crowdFactor) {
			return errOverflow
		}
	}
	return errOverflow
}

// sparse reports whether after e doublings the filter would be more than so many times
// as large as its set bits ask for.
func (f *Filter) sparse(e int, factor float64) bool {
	return factor*float64(f.set) < f.shape.Threshold*float64(f.shape.Bits<<e)
}

// crowd returns the entries of a tree that would overflow if xs were added to the
// filter after e doublings, or nil if there is none. All trees are settled.
func (f *Filter) crowd(xs []uint64, e int) []entry {
	for _, x := range xs {
		if all := f.neighbours(xs, x, e); !f.slow.fit(all) {
			return all
		}
	}
	return nil
}

// neighbours returns what would be in the tree of x after e doublings, which are
// no fewer than there were, with xs. The lowest e bits of a fingerprint are those
// of its segment.
func (f *Filter) neighbours(xs []uint64, x uint64, e int) []entry {
	same := uint64(1)<<e - 1
	_, group, _ := f.home(x)
	t, _, fp := f.own(x)
	all := slices.DeleteFunc(f.slow.gather(t, f.entries[:0]), func(o entry) bool { return (o.fp^fp)&same != 0 })
	for _, y := range xs {
		if _, g, branch := f.home(y); g == group && (y>>f.sizeBits^fp)&same == 0 {
			all = append(all, entry{branch, y >> f.sizeBits})
		}
	}
	return all
}

func hasCopies(all []entry) bool {
	for i, e := range all {
		if slices.Contains(all[:i], e) {
			return true
		}
	}
	return false
}
