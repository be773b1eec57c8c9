package dynamic

import (
	"cmp"
	"container/heap"
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

// pack merges the two thinnest units as long as they fit into one. The result takes
// the later one's place, as in join. It returns how many comparisons that took, which
// are in proportion to n log n for n units.
func (f *Filter) pack() (looks int) {
	h := &thinFirst{units: f.units, order: make([]int, len(f.units))}
	for i := range h.order {
		h.order[i] = i
	}
	heap.Init(h)
	for h.Len() > 1 {
		i := heap.Pop(h).(int)
		j := h.order[0]
		if f.units[i].set+f.units[j].set > f.shape.Full {
			break
		}
		first, last := min(i, j), max(i, j)
		f.units[last].union(&f.units[first])
		f.units[first] = unit{}
		h.order[0] = last
		heap.Fix(h, 0)
	}
	f.units = slices.DeleteFunc(f.units, func(u unit) bool { return u.part == nil })
	return h.looks
}

// thinFirst is a heap of units, by number: the one with the fewest set positions comes
// first, and of equal ones the oldest.
type thinFirst struct {
	units []unit
	order []int
	looks int
}

func (h *thinFirst) Len() int { return len(h.order) }

func (h *thinFirst) Less(a, b int) bool {
	h.looks++
	i, j := h.order[a], h.order[b]
	return cmp.Or(cmp.Compare(h.units[i].set, h.units[j].set), cmp.Compare(i, j)) < 0
}

func (h *thinFirst) Swap(a, b int) { h.order[a], h.order[b] = h.order[b], h.order[a] }

func (h *thinFirst) Push(i any) { h.order = append(h.order, i.(int)) }

func (h *thinFirst) Pop() any {
	last := len(h.order) - 1
	i := h.order[last]
	h.order = h.order[:last]
	return i
}
