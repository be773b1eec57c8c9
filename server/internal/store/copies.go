package store

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

// copies are how often keys are in a set that holds each of them once, less one. CF.ADD
// makes them.
type copies map[filter.Key]uint32

// The stored form stands before the file of the filter: magic 8 | how many 8 | key 8 and
// copies 4 each.
const (
	copiesMagic = "EBCOPIES"
	copiesHead  = 16
	copySize    = 12
	copyMemory  = 40 // bytes that one takes, about
)

// WriteTo writes the stored form.
func (c copies) WriteTo(w io.Writer) (int64, error) {
	b := binary.LittleEndian.AppendUint64([]byte(copiesMagic), uint64(len(c)))
	for k, n := range c {
		b = binary.LittleEndian.AppendUint64(b, uint64(k))
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	n, err := w.Write(b)
	return int64(n), err
}

// cutCopies takes the stored form from the front of b; it returns nil if there is none.
func cutCopies(b []byte) (c copies, rest []byte, err error) {
	if len(b) < copiesHead || string(b[:8]) != copiesMagic {
		return nil, b, nil
	}
	n := binary.LittleEndian.Uint64(b[8:])
	b = b[copiesHead:]
	if n > uint64(len(b))/copySize {
		return nil, nil, fmt.Errorf("store: %d copies in %d bytes: %w", n, len(b), ErrContent)
	}
	c = make(copies)
	for ; n > 0; n-- {
		c[filter.Key(binary.LittleEndian.Uint64(b))] = binary.LittleEndian.Uint32(b[8:])
		b = b[copySize:]
	}
	return c, b, nil
}

// sum returns how many copies there are.
func (c copies) sum() (n uint64) {
	for _, one := range c {
		n += uint64(one)
	}
	return n
}

// applyCopies says how often a key is there, at least once.
func (s *Store) applyCopies(e *Entry, x *record.Effect, outcomes []Outcome) ([]Outcome, error) {
	if len(x.Data) != copySize || !e.Exact() {
		return outcomes, fmt.Errorf("copies of a key of entry %d: %w", e.number, record.ErrDamaged)
	}
	k, n := filter.Key(binary.LittleEndian.Uint64(x.Data)), binary.LittleEndian.Uint32(x.Data[8:])
	e.mu.Lock()
	defer e.mu.Unlock()
	added, err := e.filter.Add(k)
	if err != nil {
		return append(outcomes, Full), nil
	}
	before := uint64(e.copies[k]) + 1
	if added {
		before = 0
	}
	e.setCopies(k, n)
	e.items.Add(uint64(n) - before)
	e.deletes.Add(before - min(before, uint64(n)))
	s.changed(e, 1)
	return append(outcomes, Done), nil
}

// setCopies says how often a key is there.
func (e *Entry) setCopies(k filter.Key, n uint32) {
	if n <= 1 {
		delete(e.copies, k)
		return
	}
	if e.copies == nil {
		e.copies = make(copies)
	}
	e.copies[k] = n - 1
}
