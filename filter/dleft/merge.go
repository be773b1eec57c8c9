package dleft

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Union adds what is in other, a *Filter of equal shape, as often as it is there.
// Fingerprints are recovered from other's cells and added one by one to a copy
// of f, which takes the place of f in the end. If some find no room the error is
// ErrFull, and nothing was changed.
func (f *Filter) Union(other filter.Filter) error {
	return merging.Union(f, other)
}

// PrepareUnion makes the copy that takes the place of f in Union, and returns the
// function that puts it there.
func (f *Filter) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	o, err := merging.Peer(f, other)
	if err != nil {
		return nil, err
	}
	g, err := f.clone()
	if err != nil {
		return nil, err
	}
	for cell, fp := range o.all() {
		_, counter := o.get(cell)
		if !g.take(fp, counter) {
			return nil, fmt.Errorf("dleft: union of %d and %d keys: %w", f.Len(), o.Len(), filter.ErrFull)
		}
	}
	g.vague = min(g.vague+o.vague, maxVague)
	g.capacity = max(f.capacity, o.capacity)
	return merging.OnCommit(func() { *f = *g }), nil
}

// maxVague is where copies in stuck cells are no longer counted. A filter that
// is united with itself again and again gets there.
const maxVague = 1 << 62

// clone returns a copy in memory of its own.
func (f *Filter) clone() (*Filter, error) {
	words, err := mem.Clone(f.words)
	if err != nil {
		return nil, fmt.Errorf("dleft: %w: %w", filter.ErrStorage, err)
	}
	g := over(f.shape, words)
	g.tally, g.capacity, g.moved = f.tally, f.capacity, f.moved
	return g, nil
}

// take adds a fingerprint with a counter of another filter. The copies of a stuck
// one are not known and left to the caller.
func (f *Filter) take(fp, counter uint64) bool {
	stuck, copies := counter == f.stick, counter+1
	if stuck {
		copies = 0
	}
	if cell, ok := f.seek(fp); ok {
		f.raise(cell, copies, stuck)
		return true
	}
	if !f.place(fp, counter) {
		return false
	}
	f.exact += copies
	if stuck {
		f.stuck++
	}
	return true
}

// Intersect keeps the fingerprints that are in both f and other, a *Filter of
// equal shape, as often as in the one that has fewer. A counter that is stuck in
// either is stuck in the result: the fewer of the two is unknown.
func (f *Filter) Intersect(other filter.Filter) error {
	o, err := merging.Peer(f, other)
	if err != nil {
		return err
	}
	most := o.vague // copies that stuck cells can have, by what is in o
	for cell, fp := range f.all() {
		at, ok := o.seek(fp)
		if !ok {
			f.drop(cell, fp)
			continue
		}
		_, counter := o.get(at)
		if f.lower(cell, counter) {
			most += counter + 1
		}
	}
	f.vague = min(f.vague, most)
	if f.stuck == 0 {
		f.vague = 0
	}
	f.capacity = max(f.capacity, o.capacity)
	return nil
}

// drop empties a cell, however many copies it counts.
func (f *Filter) drop(cell, fp uint64) {
	if _, counter := f.get(cell); counter == f.stick {
		f.stuck--
	} else {
		f.exact -= counter + 1
	}
	f.set(cell, 0, 0)
	f.used--
	f.double -= f.weight(fp)
}

// lower takes the minimum of a cell's counter and another, and reports whether
// only the cell's own was stuck.
func (f *Filter) lower(cell, other uint64) (alone bool) {
	remainder, counter := f.get(cell)
	switch {
	case counter == f.stick:
		return other != f.stick
	case other == f.stick:
		f.raise(cell, 0, true)
	case other < counter:
		f.set(cell, remainder, other)
		f.exact -= counter - other
	}
	return false
}
