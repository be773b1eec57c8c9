package partition

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// Add decides to add a key. The outcome is Done if it is new to a set that ignores what is
// there, and always for one that counts; Not if it is there; Full if the set may not have
// more. Unless it is Done nothing changes.
func (t *Tx) Add(e *store.Entry, k filter.Key, from Origin) store.Outcome {
	if e.Ignores() {
		return t.addOnce(e, k, from)
	}
	if full(e) {
		return store.Full
	}
	if !t.key(record.Add, e, k, from) {
		return store.Not
	}
	t.keys.set(e.Number(), k, present)
	e.Ahead.Items++
	return store.Done
}

// AddNew is Add unless the key seems to be there.
func (t *Tx) AddNew(e *store.Entry, k filter.Key, from Origin) store.Outcome {
	if e.Ignores() {
		return t.addOnce(e, k, from)
	}
	switch t.keys.get(e.Number(), k) {
	case present:
		return store.Not
	case undecided:
		if e.MayContain(k) {
			return store.Not
		}
	}
	if full(e) {
		return store.Full
	}
	if !t.key(record.AddNew, e, k, from) {
		return store.Not
	}
	t.keys.set(e.Number(), k, present)
	e.Ahead.Items++
	return store.Done
}

// addOnce adds to a set that ignores what is there.
func (t *Tx) addOnce(e *store.Entry, k filter.Key, from Origin) store.Outcome {
	switch t.keys.get(e.Number(), k) {
	case present:
		return store.Not
	case undecided:
		if e.Has(k) {
			return store.Not
		}
	}
	if full(e) {
		return store.Full
	}
	if !t.key(record.Present, e, k, from) {
		return store.Not
	}
	t.keys.set(e.Number(), k, present)
	e.Ahead.Items++
	return store.Done
}

// full reports whether an entry may not have more items.
func full(e *store.Entry) bool {
	limit := e.Spec().Limit
	return limit != 0 && e.Ahead.Items >= limit
}

// Remove decides to delete a key. The outcome is Done or Not.
func (t *Tx) Remove(e *store.Entry, k filter.Key, from Origin) store.Outcome {
	st := t.keys.get(e.Number(), k)
	if st == absent || st == undecided && !e.Has(k) {
		return store.Not
	}
	code, after := record.Remove, unsure
	if e.Ignores() {
		code, after = record.Absent, absent
	}
	if !t.key(code, e, k, from) {
		return store.Not
	}
	t.keys.set(e.Number(), k, after)
	if e.Ahead.Items > 0 {
		e.Ahead.Items--
	}
	e.Ahead.Deletes++
	return store.Done
}

// MayContain reports whether a key may be there. Where only applying the batch will tell,
// the answer is fixed then.
func (t *Tx) MayContain(e *store.Entry, k filter.Key, from Origin) bool {
	switch t.keys.get(e.Number(), k) {
	case present:
		return true
	case unsure:
		t.ask(e, k, from)
		return true
	}
	return e.MayContain(k)
}

// Contains reports whether a key is in a set of a kind that tells exactly.
func (t *Tx) Contains(e *store.Entry, k filter.Key) bool {
	switch t.keys.get(e.Number(), k) {
	case present:
		return true
	case absent:
		return false
	}
	return e.Has(k)
}

// Count returns how often a key may be there; it is fixed when the batch is applied if the
// batch has changed that.
func (t *Tx) Count(e *store.Entry, k filter.Key, from Origin) uint64 {
	if t.keys.get(e.Number(), k) == undecided {
		return e.Count(k)
	}
	t.ask(e, k, from)
	return 0
}

// ask logs a question, so that it is answered at its place among the changes.
func (t *Tx) ask(e *store.Entry, k filter.Key, from Origin) {
	from.always = true
	t.key(record.Ask, e, k, from)
}
