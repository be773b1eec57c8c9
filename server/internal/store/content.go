package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/server/internal/rebloom"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

// ErrContent is matched by errors about bytes that are not the content of an entry.
var ErrContent = errors.New("not the file of a filter that a server can hold")

// Adopt makes an entry of a Spec and its content: the text of a string, or the file of a
// filter. The bytes may come from anywhere: only what is valid becomes an entry. They
// belong to the entry from then on.
func (s *Store) Adopt(number uint64, name string, spec Spec, content []byte) (*Entry, error) {
	if spec.Type == Text {
		return s.NewEntry(number, name, spec, content)
	}
	if !spec.valid() {
		return nil, errSpec
	}
	twice, content, err := cutCopies(content)
	if err != nil {
		return nil, err
	}
	f, imported, hash, err := openContent(&spec, content)
	if err != nil {
		return nil, err
	}
	e := s.entryOf(number, name, spec, f)
	e.imported, e.copies = imported, twice
	if twice != nil && !e.Exact() {
		return nil, fmt.Errorf("store: copies of keys of a filter that is not exact: %w", ErrContent)
	}
	if hash != nil && *hash != s.hash {
		e.hash = hash
	}
	e.measure()
	e.items.Store(spec.Items)
	e.deletes.Store(spec.Deletes)
	if spec.Items == 0 && spec.Deletes == 0 && imported == nil || e.Exact() {
		e.items.Store(f.Info().Keys + twice.sum())
	}
	e.ResetAhead()
	return e, nil
}

// openContent reads the filter that a Spec describes, and what its keys are made with if that
// is not the hash alone.
func openContent(spec *Spec, content []byte) (f filter.Filter, imported keyer, hash *filter.Hash, err error) {
	header, data, rest, ok := rebloom.Cut(content)
	switch {
	case ok && spec.Kind == rebloom.Kind && spec.Type == Cuckoo && len(rest) == 0:
		c, err := rebloom.ReadCuckoo(header, data)
		return c, c, nil, err
	case ok && spec.Type == Bloom:
		if imported, err = rebloom.ReadBloom(header, data); err != nil {
			return nil, nil, nil, err
		}
	case ok:
		return nil, nil, nil, fmt.Errorf("store: a dump of RedisBloom as kind %d: %w", spec.Kind, ErrContent)
	}
	if f, hash, err = readFilter(bytes.NewReader(rest)); err != nil {
		return nil, nil, nil, err
	}
	if ok && !f.MayContain(rebloom.Inherited) {
		return nil, nil, nil, fmt.Errorf("store: the items of RedisBloom are not in the filter: %w", ErrContent)
	}
	return f, imported, hash, spec.describes(f, rest)
}

// describes refuses the file of a filter that is not what a Spec says.
func (s *Spec) describes(f filter.Filter, content []byte) error {
	r, err := frame.Open(bytes.NewReader(content))
	if err != nil {
		return err
	}
	h := r.Header()
	_, deletes := f.(filter.Deleter)
	if h.Kind != s.Kind || !slices.Equal(h.Shape, s.Shape) || s.Type == Cuckoo && !deletes {
		return fmt.Errorf("store: a filter of kind %d, shape %v, described as kind %d, shape %v: %w", h.Kind, h.Shape, s.Kind, s.Shape, ErrContent)
	}
	return nil
}

// SpecOf returns what the file of a filter is to a server.
func SpecOf(content []byte) (spec Spec, err error) {
	f, _, err := readFilter(bytes.NewReader(content))
	if err != nil {
		return spec, err
	}
	r, err := frame.Open(bytes.NewReader(content))
	if err != nil {
		return spec, err
	}
	i := f.Info()
	spec = Spec{Type: Bloom, Kind: r.Header().Kind, Shape: r.Header().Shape, Capacity: max(i.Capacity, i.Keys, 1), FPR: i.FPR, Expansion: 2}
	if _, deletes := f.(filter.Deleter); deletes {
		spec.Type = Cuckoo
	}
	if !i.Unbounded {
		spec.Fixed = true
	}
	return spec, nil
}

// readFilter reads the one filter that src holds, and its hash if it says so.
func readFilter(src io.Reader) (filter.Filter, *filter.Hash, error) {
	r, err := frame.Open(src)
	if err != nil {
		return nil, nil, fmt.Errorf("store: %w: %w", ErrContent, err)
	}
	h := r.Header()
	if _, ok := makers[h.Kind]; !ok {
		return nil, nil, fmt.Errorf("store: kind %d: %w", h.Kind, ErrContent)
	}
	var hash *filter.Hash
	if len(h.Hash) > 0 {
		hash = new(filter.Hash)
		if err := hash.UnmarshalBinary(h.Hash); err != nil {
			return nil, nil, fmt.Errorf("store: %w: %w", ErrContent, err)
		}
	}
	f, err := kinds.Read(r)
	if err != nil {
		return nil, nil, fmt.Errorf("store: %w: %w", ErrContent, err)
	}
	return f, hash, nil
}

// Snapshot captures the content of an entry, hash included. Of kinds that are concurrent
// every key is as it was at some moment until the snapshot is written; of others it is the
// filter as it is now.
func (e *Entry) Snapshot() (io.WriterTo, error) { return e.capture(e.File) }

// streamed is from how many bytes on a set is captured part by part: copying as much takes
// half a millisecond.
const streamed = 2 << 20

// Stream is Snapshot, but a large set of a kind that can be captured part by part is copied
// while the result is written, inside of calls of exclusive: these run a function between
// changes, or return false.
func (e *Entry) Stream(exclusive func(func()) bool) (io.WriterTo, error) {
	f, ok := e.filter.(interface {
		Stream(exclusive func(func()) bool) io.WriterTo
	})
	if !ok || e.Bytes() < streamed {
		return e.Snapshot()
	}
	return e.capture(func() (io.WriterTo, error) { return e.stamped(f.Stream(exclusive)) })
}

// capture captures the content with the file of the filter that is given.
func (e *Entry) capture(filterFile func() (io.WriterTo, error)) (io.WriterTo, error) {
	if e.filter == nil {
		return bytes.NewReader(e.text), nil
	}
	if c, ok := e.filter.(*rebloom.Cuckoo); ok {
		e.mu.RLock()
		defer e.mu.RUnlock()
		return bytes.NewReader(c.Bytes()), nil
	}
	file, err := filterFile()
	if err != nil {
		return nil, err
	}
	if b, ok := e.imported.(*rebloom.Bloom); ok {
		return both{b, file}, nil
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if len(e.copies) > 0 {
		return both{maps.Clone(e.copies), file}, nil
	}
	return file, nil
}

// File is Snapshot for the file of the filter alone.
func (e *Entry) File() (io.WriterTo, error) {
	if !e.Concurrent() {
		e.mu.RLock()
		defer e.mu.RUnlock()
	}
	w, err := filter.Snapshot(e.filter)
	if err != nil {
		return nil, err
	}
	return e.stamped(w)
}

// stamped adds the hash to the file of a filter.
func (e *Entry) stamped(w io.WriterTo) (io.WriterTo, error) {
	image, ok := w.(*frame.Image)
	if !ok {
		return nil, fmt.Errorf("store: %T has a file format of its own", e.filter)
	}
	hash, err := e.hash.MarshalBinary()
	if err != nil {
		return nil, err
	}
	image.Stamp(hash, 0, 1)
	return image, nil
}

// both writes one after the other.
type both [2]io.WriterTo

// WriteTo writes both.
func (b both) WriteTo(w io.Writer) (n int64, err error) {
	for _, part := range b {
		m, err := part.WriteTo(w)
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Concurrent reports whether a snapshot may be taken while the entry changes.
func (e *Entry) Concurrent() bool {
	_, ok := e.filter.(filter.Concurrent)
	return ok
}

// Preview returns the entry as it will be when effects are applied, in a copy that is not in
// the store. The partition calls it.
func (s *Store) Preview(e *Entry, effects record.Effects) (*Entry, error) {
	w, err := e.Snapshot()
	if err != nil {
		return nil, err
	}
	var content bytes.Buffer
	if _, err := w.WriteTo(&content); err != nil {
		return nil, err
	}
	m := e.Meta(0)
	m.Spec.Items, m.Spec.Deletes = m.Items, m.Deletes
	p, err := s.Adopt(e.number, e.name, m.Spec, content.Bytes())
	if err != nil {
		return nil, err
	}
	defer s.bytes.Store(s.bytes.Load()) // the copy does not count
	for {
		x, ok, err := effects.Next()
		if err != nil || !ok {
			return p, err
		}
		switch {
		case x.Entry != e.number:
		case x.Code == record.Copies:
			_, err = s.applyCopies(p, &x, nil)
		case x.Code <= record.Ask:
			_, err = s.applyKeys(p, &x, nil)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Keys returns the keys in the set, if its kind stores them and may be listed while it
// changes. A key that is there throughout is among them.
func (e *Entry) Keys() (iter.Seq[filter.Key], bool) {
	l, ok := e.filter.(filter.Lister)
	if !ok || !e.Concurrent() {
		return nil, false
	}
	return l.Keys(), true
}
