package partition

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A foresight is which of the items that will be added next may be in the filter. They are
// looked up together: the memory that they need is fetched at the same time.
type foresight struct {
	entry  *store.Entry
	record uint64 // through which the filter was looked at; it changes with the next one
	items  [][]byte
	keys   []filter.Key
	found  []bool
	next   int
}

// MaxForesight is how many items are looked up together.
const MaxForesight = 64

// Foresee says which items will be added to an entry next, MaxForesight at most. Wrong guesses
// cost time and nothing else.
func (t *Tx) Foresee(e *store.Entry, items [][]byte) {
	f := &t.foresight
	if !e.Ignores() || len(items) < 2 {
		return // nothing is looked up, or nothing can be gained
	}
	if f.found == nil {
		f.found = make([]bool, MaxForesight)
	}
	f.entry, f.record, f.next = e, t.p.chain.Number, 0
	f.items, f.keys = append(f.items[:0], items...), f.keys[:0]
	for _, item := range items {
		f.keys = append(f.keys, e.Key(item))
	}
	e.MayContainBatch(f.keys, f.found)
}

// Foresees reports whether the next item of an entry was looked up.
func (t *Tx) Foresees(e *store.Entry) bool {
	f := &t.foresight
	return f.entry == e && f.next < len(f.keys) && f.record == t.p.chain.Number
}

// lookUp returns the key of an item that is added, and whether it may be in the filter.
func (t *Tx) lookUp(e *store.Entry, item []byte) (k filter.Key, may bool) {
	f := &t.foresight
	if t.Foresees(e) && same(f.items[f.next], item) {
		f.next++
		return f.keys[f.next-1], f.found[f.next-1]
	}
	k = e.Key(item)
	return k, e.MayContain(k)
}

// same reports whether two slices are the same memory.
func same(a, b []byte) bool { return len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] }

// forget lets the items go.
func (f *foresight) forget() {
	clear(f.items)
	f.entry, f.items, f.keys = nil, f.items[:0], f.keys[:0]
}
