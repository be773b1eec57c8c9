package perennial

import (
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// Count returns how often k may have been added and not deleted since: how many entries fit
// it. It is no less than the truth up to the largest count of an entry, which stays when it is
// reached. It excludes changes, as Info does.
func (f *Filter) Count(k filter.Key) (n uint64) {
	r := f.ring.Load()
	z := r.mixer.Mix(k)
	t := r.layout.locate(z, r.w)
	_, l, idx := r.find(t)
	var slots [maxSlotsEver]uint64
	var entries [maxSlotsEver]entry
	for _, e := range r.decode(r.slotsOf(l, idx, slots[:0]), entries[:0]) {
		if e.v == 0 || fits(e.v, t.y) {
			n += e.count
		}
	}
	return n + r.extras.Load().count(z)
}

// count returns how often prefixes of a key are there.
func (s *extras) count(z uint64) (n uint64) {
	if s == nil {
		return 0
	}
	for _, length := range s.lengths {
		e := extra{prefix: prefix{z >> (64 - length) << (64 - length), length}}
		if i, found := slices.BinarySearchFunc(s.list, e, compareExtras); found {
			n += s.list[i].count
		}
	}
	return n
}
