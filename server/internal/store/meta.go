package store

import (
	"fmt"
	"maps"

	"github.com/everbloom-go/everbloom/filter"
)

// A Meta is what is known of an entry beside its content.
type Meta struct {
	Number         uint64
	Name           string
	Spec           Spec
	Items, Deletes uint64
	Record         uint64 // through which everything is in it
}

// Meta returns what the entry is at the moment, through a record. The partition calls it.
func (e *Entry) Meta(number uint64) Meta {
	m := Meta{e.number, e.name, *e.spec, e.items.Load(), e.deletes.Load(), number}
	m.Spec.Expiry = e.expiry.Load()
	return m
}

// Load puts an entry of an image into a store that is loading.
func (s *Store) Load(m Meta, content []byte) error {
	if s.byNum[m.Number] != nil {
		return fmt.Errorf("store: entry %d is loaded twice", m.Number)
	}
	e, err := s.Adopt(m.Number, m.Name, m.Spec, content)
	if err != nil {
		return err
	}
	e.items.Store(m.Items)
	e.deletes.Store(m.Deletes)
	e.version.Store(m.Record)
	e.imaged = m.Record
	s.insert(e)
	return nil
}

// LoadState sets what belongs to no entry: the hash, the last number that was given to an
// entry, and the entries that were dropped while images were written, with the record
// that did it.
func (s *Store) LoadState(hash filter.Hash, last uint64, gone map[uint64]uint64) {
	s.hash, s.last = hash, last
	maps.Copy(s.gone, gone)
}

// LastNumber returns the last number that was given to an entry.
func (s *Store) LastNumber() uint64 { return s.last }

// AppendTo appends the stored form of a Meta.
func (m *Meta) AppendTo(b []byte) []byte {
	for _, n := range []uint64{m.Number, m.Items, m.Deletes, m.Record, uint64(len(m.Name))} {
		b = appendUint64(b, n)
	}
	b = append(b, m.Name...)
	return m.Spec.AppendTo(b)
}

// ReadMeta takes a Meta from the front of b and returns the rest.
func ReadMeta(b []byte) (m Meta, rest []byte, err error) {
	const size = 5 * 8
	if len(b) < size {
		return m, nil, errSpec
	}
	n := uint64At(b, 4)
	if n > uint64(len(b)-size) {
		return m, nil, errSpec
	}
	m = Meta{Number: uint64At(b, 0), Items: uint64At(b, 1), Deletes: uint64At(b, 2), Record: uint64At(b, 3), Name: string(b[size : size+n])}
	m.Spec, rest, err = ReadSpec(b[size+n:])
	return m, rest, err
}
