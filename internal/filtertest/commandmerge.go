package filtertest

import (
	"errors"

	"github.com/everbloom-go/everbloom/filter"
)

// other returns what to merge with: mostly a sibling, at times the model itself, while
// its counts are far from overflow.
func (m *model) other() *model {
	n := m.choices.next() % 32
	if n < 4 && m.set.Total() < 1<<32 {
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
	if o.void {
		m.abandon()
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
		m.record(k)
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
	if m.void || o.void {
		m.abandon()
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
	return !m.refused(err)
}
