package filtertest

import (
	"bytes"
	"errors"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// A command is something that a model does. Its weights are how many of the 256
// values of a byte stand for it, in each weighting.
type command struct {
	name    string
	weights [3]int
	simple  bool // can be done while a second filter is built for a merge
	run     func(m *model)
}

// A weighting says which commands a model prefers.
type weighting int

const (
	anyCommand   weighting = iota // for Model and Fuzz
	addAndDelete                  // for AddAndDelete: nothing else
	invariants                    // for Invariants: against the rules, and many merges
)

// commands is the table. It is a function because some of its rows lead back to it.
func commands() []command {
	return []command{
		// Additions and deletions balance at about the capacity.
		{"add", [3]int{104, 128, 0}, true, (*model).add},
		{"add batch", [3]int{16, 0, 76}, true, (*model).addBatch},
		{"add again", [3]int{16, 24, 0}, true, (*model).addAgain},
		{"delete", [3]int{80, 104, 16}, true, (*model).deletePresent},
		{"delete absent", [3]int{16, 0, 0}, true, (*model).deleteAbsent},
		{"delete any", [3]int{0, 0, 90}, true, (*model).deleteAny},
		// All below take time in proportion to the filter, and are rare.
		{"union", [3]int{4, 0, 20}, false, (*model).union},
		{"intersect", [3]int{2, 0, 24}, false, (*model).intersect},
		{"grow", [3]int{5, 0, 12}, false, func(m *model) { m.refused(filter.Grow(m.filter)) }},
		{"shrink", [3]int{5, 0, 12}, false, func(m *model) { m.refused(filter.Shrink(m.filter)) }},
		{"store and read", [3]int{3, 0, 0}, false, (*model).storeAndRead},
		{"check all", [3]int{3, 0, 2}, false, (*model).checkAll},
		{"clear", [3]int{1, 0, 2}, false, (*model).maybeClear},
		{"restart", [3]int{1, 0, 2}, false, (*model).maybeRestart},
	}
}

// commandsByValue returns the command of each value of a byte.
func commandsByValue(w weighting) (all [256]command) {
	value := 0
	for _, c := range commands() {
		for range c.weights[w] {
			all[value] = c
			value++
		}
	}
	return all
}

// add adds any key of the pool, which may be in the set already. If there are enough
// keys it deletes one.
func (m *model) add() {
	if m.most > 0 && m.set.Len() >= m.most {
		m.deletePresent()
		return
	}
	m.addKey(m.key())
}

// addAgain adds a key that is in the set.
func (m *model) addAgain() {
	if k, ok := m.present(); ok {
		m.addKey(k)
	}
}

// addKey adds k and checks what Add says of it.
func (m *model) addKey(k filter.Key) {
	missing := !m.filter.MayContain(k)
	added, err := m.filter.Add(k)
	switch {
	case m.addRefused(err):
		return
	case missing && !added:
		m.fail("key %#x was not found and then not reported as new", k)
	case added && m.set.Has(k) && m.duplicates == filter.DuplicatesIgnored:
		m.fail("key %#x is in the set and was reported as new", k)
	}
	m.record(k)
}

// record puts k, which was added, into the reference.
func (m *model) record(k filter.Key) {
	if m.void {
		return
	}
	if m.duplicates != filter.DuplicatesIgnored || !m.set.Has(k) {
		m.set.Add(k)
	}
	if m.duplicates == filter.DuplicatesIgnored {
		delete(m.loose, k)
	}
}

// addBatch adds up to 23 keys, some of them more than once. What a full filter
// did not take is not expected to be there.
func (m *model) addBatch() {
	keys := make([]filter.Key, m.choices.next()%24)
	for i := range keys {
		keys[i] = m.key()
	}
	done, added, err := filter.AddBatch(m.filter, keys)
	if done < 0 || done > len(keys) || added < 0 || added > done || (err != nil) != (done < len(keys)) {
		m.fail("a batch of %d: done %d, added %d, error %v", len(keys), done, added, err)
	}
	for _, k := range keys[:done] {
		m.record(k)
	}
	m.addRefused(err)
	got := make([]bool, done)
	filter.MayContainBatch(m.filter, keys[:done], got)
	if slices.Contains(got, false) {
		m.fail("a batch of %d was added and then answered with %v", done, got)
	}
}

// deletePresent deletes a key of the set, once. Where copies count it may stay.
func (m *model) deletePresent() {
	if k, ok := m.present(); ok {
		m.deleteKey(k)
	}
}

// deleteKey deletes k, which is in the set. With a limit of keys the reference forgets
// half of the pinned ones, or others would become rare.
func (m *model) deleteKey(k filter.Key) {
	err := filter.Delete(m.filter, k)
	pins := m.duplicates == filter.DuplicatesPin
	switch {
	case pins && err == nil && m.set.Count(k) > 1:
		m.fail("key %#x was added %d times and could be deleted", k, m.set.Count(k))
	case pins && err == nil && m.filter.MayContain(k):
		m.fail("key %#x is there right after it was deleted", k)
	case !m.refused(err, filter.ErrPinned):
		m.set.Delete(k)
		return
	case !m.filter.MayContain(k):
		m.fail("deleting %#x was refused with %v, and yet it is not found now", k, err)
	}
	if m.most > 0 && errors.Is(err, filter.ErrPinned) && m.choices.next()%2 == 0 {
		m.set.Remove(k)
		m.loose[k] = true
	}
}

// deleteAbsent deletes a key that is not in the set, if that is allowed: see
// deleteRefusesAbsentKeys.
func (m *model) deleteAbsent() {
	k := m.key()
	if m.set.Has(k) || !m.harmless() && (m.loose[k] || m.filter.MayContain(k)) {
		return
	}
	err := filter.Delete(m.filter, k)
	switch {
	case errors.Is(err, filter.ErrNotFound) || errors.Is(err, errors.ErrUnsupported):
	case m.loose[k] && m.refused(err, filter.ErrPinned):
	case m.loose[k]:
		delete(m.loose, k)
	default:
		m.fail("deleting %#x, which is not in the set: %v, want ErrNotFound", k, err)
	}
}

// harmless reports whether deleting an absent key cannot take another one away.
func (m *model) harmless() bool { return m.duplicates == filter.DuplicatesIgnored }

// deleteAny deletes up to 23 keys, in the set or not. Where deleting a false positive
// does harm the reference is void from then on.
func (m *model) deleteAny() {
	for range m.choices.next() % 24 {
		k := m.key()
		if m.set.Has(k) {
			m.deleteKey(k)
		} else if err := filter.Delete(m.filter, k); err == nil && !m.harmless() {
			m.abandon()
		}
	}
}

// abandon makes the reference void: any key may be missing.
func (m *model) abandon() {
	m.forget()
	m.void = true
}

// storeAndRead goes on with what was read.
func (m *model) storeAndRead() {
	if !filter.AbilitiesOf(m.filter).Snapshot {
		return
	}
	stored := m.state(m.filter)
	f, err := m.s.Read(bytes.NewReader(stored))
	if err != nil {
		m.fail("%v", err)
	}
	m.wantSame(f, m.filter.Info(), stored, "storing and reading")
	m.filter = f
}

// maybeClear empties the filter and goes on with it.
func (m *model) maybeClear() {
	if m.choices.next() >= 64 || m.refused(filter.Clear(m.filter)) {
		return
	}
	for _, k := range m.set.Keys() {
		if m.filter.MayContain(k) {
			m.fail("key %#x was in the set that was cleared, and still is", k)
		}
	}
	m.forget()
	m.checkAll()
}

// maybeRestart is rare, so that filters can live long.
func (m *model) maybeRestart() {
	if m.choices.next() < 64 {
		m.restart()
	}
}
