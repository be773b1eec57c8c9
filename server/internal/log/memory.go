package log

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
)

// Memory is a log in memory, which several writers may share. The zero Memory is empty.
type Memory struct {
	mu      sync.Mutex
	first   uint64 // position of entries[0], less 1
	entries [][]byte
	grown   chan struct{} // closed with the next entry; nil if nothing waits for it

	// Fault is asked before each Append what is to go wrong; nil means nothing.
	Fault func(after uint64) Fault
}

// A Fault is something that goes wrong with an Append.
type Fault uint8

// The faults.
const (
	None          Fault = iota
	Full                // refused
	LostUnknown         // not stored, and the caller is not told
	StoredUnknown       // stored, and the caller is not told
	Moved               // another writer was there
)

// errOutcome is the answer of faults that tell nothing.
var errOutcome = errors.New("log: the outcome is unknown")

// Append stores a copy of b.
func (m *Memory) Append(_ context.Context, after uint64, b []byte) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.first + uint64(len(m.entries))
	if after < last {
		return m.compare(after, b)
	}
	if after > last {
		return 0, fmt.Errorf("log: append behind %d, the last is %d: %w", after, last, ErrMoved)
	}
	fault := None
	if m.Fault != nil {
		fault = m.Fault(after)
	}
	switch fault {
	case Full:
		return 0, ErrFull
	case LostUnknown:
		return 0, errOutcome
	case Moved:
		return 0, ErrMoved
	}
	m.entries = append(m.entries, bytes.Clone(b))
	if m.grown != nil {
		close(m.grown)
		m.grown = nil
	}
	if fault == StoredUnknown {
		return 0, errOutcome
	}
	return last + 1, nil
}

// compare finds out whether the entry behind after is b: an earlier call may have stored it.
func (m *Memory) compare(after uint64, b []byte) (uint64, error) {
	if after < m.first {
		return 0, fmt.Errorf("log: entry %d is trimmed: %w", after+1, ErrGap)
	}
	if bytes.Equal(m.entries[after-m.first], b) {
		return after + 1, nil
	}
	return 0, fmt.Errorf("log: another entry is at %d: %w", after+1, ErrMoved)
}

// Watch hands the entries behind after to do, and those that come.
func (m *Memory) Watch(ctx context.Context, after uint64, do func(at uint64, b []byte) error) error {
	for {
		more := m.more()
		err := m.Follow(ctx, after, func(at uint64, b []byte) error {
			after = at
			return do(at, b)
		})
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-more:
		}
	}
}

// more returns a channel that is closed with the next entry.
func (m *Memory) more() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.grown == nil {
		m.grown = make(chan struct{})
	}
	return m.grown
}

// Follow hands the entries behind after to do.
func (m *Memory) Follow(ctx context.Context, after uint64, do func(at uint64, b []byte) error) error {
	m.mu.Lock()
	first, entries := m.first, m.entries
	m.mu.Unlock()
	if after < first || after > first+uint64(len(entries)) {
		return fmt.Errorf("log: entries %d to %d are there, %d is wanted: %w", first+1, first+uint64(len(entries)), after+1, ErrGap)
	}
	for i, b := range entries[after-first:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(after+uint64(i)+1, b); err != nil {
			return err
		}
	}
	return nil
}

// Trim forgets the entries through a position.
func (m *Memory) Trim(_ context.Context, through uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(max(through, m.first)-m.first, uint64(len(m.entries)))
	m.entries = append([][]byte(nil), m.entries[n:]...)
	m.first += n
	return nil
}

// Last returns the position of the last entry.
func (m *Memory) Last(context.Context) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.first + uint64(len(m.entries)), nil
}

// Close does nothing: what is in the log stays, as if on disk.
func (m *Memory) Close() error { return nil }

// Damage flips a bit of an entry that is there.
func (m *Memory) Damage(at uint64, bit int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.entries[at-m.first-1]
	b[bit/8%len(b)] ^= 1 << (bit % 8)
}
