package frame

import (
	"errors"
	"fmt"
)

// What a caller may decide upon. Errors of the source itself (a failing disk,
// a closed connection) are passed on wrapped and match none of these.
var (
	// ErrCorrupt is matched when the content is damaged, cut short or
	// contradicts itself. A file that is cut short also matches
	// io.ErrUnexpectedEOF.
	ErrCorrupt = errors.New("corrupt")

	// ErrMagic is matched when the input does not begin as a frame does.
	ErrMagic = errors.New("not an everbloom file")

	// ErrVersion is matched when the envelope or the kind's own format has a
	// version that this release does not know.
	ErrVersion = errors.New("unknown version")

	// ErrKind is matched when a frame holds another kind than expected.
	ErrKind = errors.New("another kind")

	// ErrParts is matched when one part of several is opened as if it were
	// the whole.
	ErrParts = errors.New("one part of several")
)

// corruptf makes an error that matches ErrCorrupt and names the offset.
func corruptf(offset uint64, format string, args ...any) error {
	return fmt.Errorf("frame: %s, at offset %d: %w", fmt.Sprintf(format, args...), offset, ErrCorrupt)
}
