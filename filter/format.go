package filter

import (
	"errors"
	"strconv"
)

// What a file may be that cannot be read. Readers return them inside of a
// [FormatError]; a failing disk or connection matches none of them.
var (
	// ErrNotFilter is matched when the bytes do not begin as the file of a filter does.
	ErrNotFilter = errors.New("not a filter file")

	// ErrVersion is matched when the file has a format version that this release does
	// not know: a newer release wrote it.
	ErrVersion = errors.New("unknown format version")

	// ErrKind is matched when the file holds a kind of filter that this release does
	// not know, or another one than the reader is for.
	ErrKind = errors.New("unknown or another kind")

	// ErrPart is matched by the Read of a kind when the file holds a set of several
	// shards.
	ErrPart = errors.New("one part of several")

	// ErrCorrupt is matched when the bytes are damaged, cut short or were never valid.
	// If they are cut short, io.ErrUnexpectedEOF is matched, too.
	ErrCorrupt = errors.New("corrupt")
)

// A FormatError says what is wrong in a file, and where.
type FormatError struct {
	Field  string // what was read, such as "header: kind" or "chunk 3: crc32c"
	Value  string // what stands there
	Limit  string // what would be right; empty if there is no saying
	Offset uint64 // bytes from where reading began
	Err    error  // which of the errors above it is
}

// Detail returns what is wrong and where, without the text of Err.
func (e *FormatError) Detail() string {
	text := e.Field
	if e.Value != "" {
		text += ": " + e.Value
	}
	if e.Limit != "" {
		text += ", want " + e.Limit
	}
	return text + ", at offset " + strconv.FormatUint(e.Offset, 10)
}

// Error returns the detail and the text of Err, as text of this package.
func (e *FormatError) Error() string { return "filter: " + e.Detail() + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *FormatError) Unwrap() error { return e.Err }
