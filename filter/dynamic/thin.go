package dynamic

import (
	"cmp"
	"slices"
)

// Deleting makes units thin. A list of thin units takes as much memory and time as
// one of full units, so that they are merged: two units of one shape become one
// that answers for the keys of both. Two rules keep the work small and the rate
// where it is.
//
// A merge must leave room. Deleting merges only up to three quarters of a full
// unit, so that as many as a quarter of a unit's keys must come before a new unit
// is made for them, and as many must go before the next merge: adding and
// deleting around some number of keys does not make the filter merge and grow in
// turns. For the same reason the active unit stays when it is empty.
//
// The set positions of a union are at most the sum of both, so that no merge takes
// a unit beyond Full.

// thin is up to how many set positions a unit counts as thin: half of a full one,
// if that leaves room for a key.
func (f *Filter) thin() uint64 { return min(f.shape.Full/2, f.room) }

// mergeThin looks at unit i, from which a key was deleted: an empty one goes, a thin
// one is merged with the thinnest other if both fit into three quarters of a unit.
func (f *Filter) mergeThin(i int) {
	f.uneven = true
	u := &f.units[i]
	switch {
	case u.empty() && i == len(f.units)-1:
		f.wipe(u)
	case u.empty():
		f.units = slices.Delete(f.units, i, i+1)
	case u.set <= f.thin():
		if j := f.thinnest(i); j >= 0 && u.set+f.units[j].set <= f.shape.Full/4*3 {
			f.join(i, j)
		}
	}
}

// wipe empties a unit: of its keys, or of what saturated counters have left in one
// without keys.
func (f *Filter) wipe(u *unit) {
	if u.set == 0 {
		return
	}
	clear(u.words)
	*u, _ = unitOver(f.shape, 0, u.words)
}

// thinnest returns the unit with the fewest set positions but for one, or -1 if
// there is no other.
func (f *Filter) thinnest(except int) int {
	best := -1
	for i := range f.units {
		if i != except && (best < 0 || f.units[i].set < f.units[best].set) {
			best = i
		}
	}
	return best
}

// join merges two units. The result takes the later one's place, so that the
// active unit stays the last.
func (f *Filter) join(i, j int) {
	i, j = min(i, j), max(i, j)
	f.units[j].union(&f.units[i])
	f.units = slices.Delete(f.units, i, i+1)
}

// pack merges the two thinnest units, of equal ones the oldest, as long as they fit into
// one. The result takes the later one's place, as in join.
func (f *Filter) pack() {
	thinner := func(i, j int) int {
		return cmp.Or(cmp.Compare(f.units[i].set, f.units[j].set), cmp.Compare(i, j))
	}
	order := make([]int, len(f.units))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, thinner)
	for len(order) > 1 && f.units[order[0]].set+f.units[order[1]].set <= f.shape.Full {
		first, last := min(order[0], order[1]), max(order[0], order[1])
		f.units[last].union(&f.units[first])
		f.units[first] = unit{}
		order = order[2:]
		at, _ := slices.BinarySearchFunc(order, last, thinner)
		order = slices.Insert(order, at, last)
	}
	f.units = slices.DeleteFunc(f.units, func(u unit) bool { return u.part == nil })
}
