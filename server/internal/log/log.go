// Package log says what a partition wants of its log, and has two that need no engine: one
// in memory, with faults and several nodes for tests, and a plain file to compare with.
package log

import (
	"context"
	"errors"
	"fmt"
)

// A Log stores entries, one behind the other. Positions begin with 1 and only ever grow;
// one writer at a time appends.
type Log interface {
	// Append stores b behind the entry at position after, the last one, and returns its
	// position when it is on disk. A retry inside keeps the bytes and the position, so
	// nothing is stored twice, and so does a call with the same bytes and position. ErrMoved
	// and ErrFull say that b is not stored; after any other error that is unknown. ErrGap:
	// it stays so, the entries behind after are trimmed.
	Append(ctx context.Context, after uint64, b []byte) (at uint64, err error)

	// Follow hands the entries behind a position to do, in order and without a gap, up to
	// the last one that is there when it begins. Bytes are good until do returns.
	// ErrGap: the entry behind after is not there any more.
	Follow(ctx context.Context, after uint64, do func(at uint64, b []byte) error) error

	// Trim forgets the entries through a position.
	Trim(ctx context.Context, through uint64) error

	// Last returns the position of the last entry, also if it was trimmed; 0 if there
	// never was one.
	Last(ctx context.Context) (uint64, error)

	// Close lets the log go.
	Close() error
}

// A Shared log has several writers, one at a time, and readers that wait for more.
type Shared interface {
	Log

	// Watch is Follow that goes on with the entries that come. It ends with ctx, with an
	// error of do, with ErrGap, or with another error after which it may be called again.
	Watch(ctx context.Context, after uint64, do func(at uint64, b []byte) error) error
}

// A Watcher is a Log that can tell in advance whether there is room.
type Watcher interface {
	// Room returns an error that ErrFull matches if there is too little room to go on.
	Room() error

	// Probe is Room, and tries to write.
	Probe() error
}

var (
	// ErrMoved is returned by Append when another entry stands behind after.
	ErrMoved = errors.New("another writer has appended to the log")

	// ErrFull is returned by Append when there is no room.
	ErrFull = errors.New("the log is full")

	// ErrLong is the ErrFull of a log that has nearly reached its own limit. Trimming makes room.
	ErrLong = fmt.Errorf("the log is too long: %w", ErrFull)

	// ErrGap is returned by Follow when entries are missing.
	ErrGap = errors.New("entries of the log are missing")
)
