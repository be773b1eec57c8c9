package filtertest

import (
	"bytes"
	"errors"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// A command is something that a model does. Its weight is how many of the 256
// values of a byte stand for it.
type command struct {
	name   string
	weight int
	simple bool // can be done while a second filter is built for a merge
	run    func(m *model)
}

// commands is the table. It is a function because its members lead back to it.
func commands() []command {
	return []command{
		// Additions and deletions balance at about the capacity.
		{"add", 104, true, (*model).add},
		{"add batch", 16, true, (*model).addBatch},
		{"add again", 16, true, (*model).addAgain},
		{"delete", 80, true, (*model).deletePresent},
		{"delete absent", 16, true, (*model).deleteAbsent},
		// All below take time in proportion to the filter, and are rare.
		{"union", 4, false, (*model).union},
		{"intersect", 2, false, (*model).intersect},
		{"grow", 5, false, func(m *model) { m.refusedLawfully(filter.Grow(m.filter)) }},
		{"shrink", 5, false, func(m *model) { m.refusedLawfully(filter.Shrink(m.filter)) }},
		{"store and read", 3, false, (*model).storeAndRead},
		{"check all", 3, false, (*model).checkAll},
		{"clear", 1, false, (*model).maybeClear},
		{"restart", 1, false, (*model).maybeRestart},
	}
}

// commandsByValue returns the command of each value of a byte.
func commandsByValue() (all [256]command) {
	value := 0
	for _, c := range commands() {
		for range c.weight {
			all[value] = c
			value++
		}
	}
	return all
}

// add adds any key of the pool, which may be in the set already.
func (m *model) add() { m.addKey(m.key()) }

// addAgain adds a key that is in the set.
func (m *model) addAgain() {
	if k, ok := m.present(); ok {
		m.addKey(k)
	}
}

// addKey adds k and checks what Add says of it.
func (m *model) addKey(k filter.Key) {
	denied := !m.filter.MayContain(k)
	added, err := m.filter.Add(k)
	switch {
	case m.addRefused(err):
		return
	case denied && !added:
		m.fail("key %#x was denied and then not reported as new", k)
	case added && m.set.Has(k) && m.duplicates == filter.DuplicatesIgnored:
		m.fail("key %#x is in the set and was reported as new", k)
	}
	m.note(k)
}

// note records that k was added.
func (m *model) note(k filter.Key) {
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
	keys := make([]filter.Key, m.tape.next()%24)
	for i := range keys {
		keys[i] = m.key()
	}
	done, added, err := filter.AddBatch(m.filter, keys)
	if done < 0 || done > len(keys) || added < 0 || added > done || (err != nil) != (done < len(keys)) {
		m.fail("a batch of %d: done %d, added %d, error %v", len(keys), done, added, err)
	}
	for _, k := range keys[:done] {
		m.note(k)
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
	k, ok := m.present()
	if !ok {
		return
	}
	err := filter.Delete(m.filter, k)
	if m.duplicates == filter.DuplicatesPin && m.set.Count(k) > 1 && err == nil {
		m.fail("key %#x was added %d times and could be deleted", k, m.set.Count(k))
	}
	if m.refusedLawfully(err, filter.ErrPinned) {
		if !m.filter.MayContain(k) {
			m.fail("deleting %#x was refused with %v, and yet it is denied now", k, err)
		}
		return
	}
	m.set.Delete(k)
}

// deleteAbsent deletes a key that is not in the set, if that is allowed: see
// deleteRefusesAbsentKeys.
func (m *model) deleteAbsent() {
	k := m.key()
	harmless := m.duplicates == filter.DuplicatesIgnored
	if m.set.Has(k) || !harmless && (m.loose[k] || m.filter.MayContain(k)) {
		return
	}
	err := filter.Delete(m.filter, k)
	switch {
	case errors.Is(err, filter.ErrNotFound) || errors.Is(err, errors.ErrUnsupported):
	case m.loose[k] && m.refusedLawfully(err, filter.ErrPinned):
	case m.loose[k]:
		delete(m.loose, k)
	default:
		m.fail("deleting %#x, which is not in the set: %v, want ErrNotFound", k, err)
	}
}

// other returns what to merge with: mostly a sibling, now and then the model
// itself, while its counts are far from overflow.
func (m *model) other() *model {
	n := m.tape.next() % 32
	if n == 0 && m.set.Total() < 1<<32 {
		return m
	}
	return m.sibling(n)
}

// union unites the filter with another and the reference with its reference:
// copies add up, unless duplicates are ignored.
func (m *model) union() {
	o := m.other()
	if !m.mergeDone(filter.Union(m.filter, o.filter), o) {
		return
	}
	for k := range o.loose {
		m.loose[k] = true
	}
	if m.duplicates != filter.DuplicatesIgnored {
		m.set.Union(&o.set)
		return
	}
	for _, k := range o.set.Keys() {
		m.note(k)
	}
}

// intersect keeps the common keys in the reference. Others may stay in the
// filter, which promises only to keep at least what is in both: they are loose
// from now on.
func (m *model) intersect() {
	o := m.other()
	if !m.mergeDone(filter.Intersect(m.filter, o.filter), o) || o == m {
		return
	}
	before := m.set.Keys()
	m.set.Intersect(&o.set)
	for _, k := range append(before, o.set.Keys()...) {
		if !m.set.Has(k) {
			m.loose[k] = true
		}
	}
	if m.duplicates == filter.DuplicatesPin {
		m.unpin()
	}
}

// unpin forgets how often keys were added: whether a pin outlives an
// intersection is up to the kind.
func (m *model) unpin() {
	var once Set
	for k := range m.set.All() {
		once.Add(k)
	}
	m.set = once
}

// mergeDone reports whether a merge with o was done, and checks that o is as before.
func (m *model) mergeDone(err error, o *model) bool {
	m.merged = true
	if o != m {
		o.checkAll()
	}
	if m.unequal && errors.Is(err, filter.ErrIncompatible) {
		return false
	}
	return !m.refusedLawfully(err)
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
	if m.tape.next() >= 64 || m.refusedLawfully(filter.Clear(m.filter)) {
		return
	}
	for _, k := range m.set.Keys() {
		if m.filter.MayContain(k) {
			m.fail("key %#x was in the set that was cleared, and still is", k)
		}
	}
	m.set, m.loose, m.merged = Set{}, make(map[filter.Key]bool), false
	m.checkAll()
}

// maybeRestart is rare in long runs, so that filters can live long.
func (m *model) maybeRestart() {
	if m.tape.next() < 16 {
		m.restart()
	}
}
