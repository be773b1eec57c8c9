package partition

import (
	"encoding/binary"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/record"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// Add decides to add an item. The outcome is Done if it is new to a set that ignores what is
// there, and always for one that counts; Not if it is there; Full if the set may not have
// more. Unless it is Done nothing changes.
func (t *Tx) Add(e *store.Entry, item []byte, from Origin) store.Outcome {
	if e.Ignores() {
		k, may := t.lookUp(e, item)
		return t.addOnce(e, k, may, from)
	}
	return t.addCopy(record.Add, e, e.Key(item), from)
}

// AddKey is Add for the key of an item.
func (t *Tx) AddKey(e *store.Entry, k filter.Key, from Origin) store.Outcome {
	if e.Ignores() {
		return t.addOnce(e, k, e.MayContain(k), from)
	}
	return t.addCopy(record.Add, e, k, from)
}

// addCopy adds to a set that counts, by the code Add or AddNew.
func (t *Tx) addCopy(code record.Code, e *store.Entry, k filter.Key, from Origin) store.Outcome {
	if full(e) {
		return store.Full
	}
	if !t.key(code, e, k, from) {
		return store.Not
	}
	t.keys.set(e.Number(), k, present)
	e.Ahead.Items++
	return store.Done
}

// AddNew is Add unless the key seems to be there.
func (t *Tx) AddNew(e *store.Entry, k filter.Key, from Origin) store.Outcome {
	if e.Ignores() {
		return t.AddKey(e, k, from)
	}
	switch t.keys.get(e.Number(), k) {
	case present:
		return store.Not
	case undecided:
		if e.MayContain(k) {
			return store.Not
		}
	}
	return t.addCopy(record.AddNew, e, k, from)
}

// addOnce adds to a set that ignores what is there, whose filter says that k may be there or
// is not.
func (t *Tx) addOnce(e *store.Entry, k filter.Key, may bool, from Origin) store.Outcome {
	if !t.room(0) { // which may clear the overlay
		return store.Not
	}
	slot, st := t.keys.slot(e.Number(), k)
	if st == present || st == undecided && may && e.Has(k) {
		return store.Not
	}
	if full(e) {
		return store.Full
	}
	t.logKey(record.Present, e, k, from)
	t.keys.fill(slot, e.Number(), k, present)
	e.Ahead.Items++
	return store.Done
}

// AddCopy adds a key once more, also to a set that holds each key once.
func (t *Tx) AddCopy(e *store.Entry, k filter.Key, from Origin) store.Outcome {
	if !e.Exact() {
		return t.AddKey(e, k, from)
	}
	n := t.copiesOf(e, k)
	switch {
	case n == 0:
		return t.AddKey(e, k, from)
	case full(e):
		return store.Full
	case n == math.MaxUint32:
		return store.Done // it stays there
	}
	if !t.setCopies(e, k, n+1, from) {
		return store.Not
	}
	e.Ahead.Items++
	return store.Done
}

// RemoveCopy deletes a key once, also from a set that holds each key once.
func (t *Tx) RemoveCopy(e *store.Entry, k filter.Key, from Origin) store.Outcome {
	if !e.Exact() {
		return t.Remove(e, k, from)
	}
	n := t.copiesOf(e, k)
	switch n {
	case 0, 1:
		return t.Remove(e, k, from)
	case math.MaxUint32:
		return store.Done // it stays there
	}
	if !t.setCopies(e, k, n-1, from) {
		return store.Not
	}
	e.Ahead.Items--
	e.Ahead.Deletes++
	return store.Done
}

// copiesOf returns how often a key is in an exact set.
func (t *Tx) copiesOf(e *store.Entry, k filter.Key) uint64 {
	if n, decided := t.copies[copyOf{e.Number(), k}]; decided {
		return n
	}
	switch t.keys.get(e.Number(), k) {
	case present:
		return 1
	case absent:
		return 0
	}
	return e.Count(k)
}

// setCopies logs how often a key is in an exact set.
func (t *Tx) setCopies(e *store.Entry, k filter.Key, n uint64, from Origin) bool {
	if !t.room(0) {
		return false
	}
	t.builder.Data(record.Copies, e.Number(), binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(k)), uint32(n)))
	t.origins = append(t.origins, from)
	t.keys.set(e.Number(), k, present)
	t.copies[copyOf{e.Number(), k}] = n
	t.change(e)
	return true
}

// copyOf is a key of an entry.
type copyOf struct {
	entry uint64
	key   filter.Key
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
	code, after, n := record.Remove, unsure, uint64(1)
	if e.Ignores() {
		code, after, n = record.Absent, absent, t.copiesOf(e, k)
	}
	if !t.key(code, e, k, from) {
		return store.Not
	}
	t.keys.set(e.Number(), k, after)
	delete(t.copies, copyOf{e.Number(), k})
	e.Ahead.Items -= min(e.Ahead.Items, n)
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
	if e.Exact() {
		return t.copiesOf(e, k)
	}
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
