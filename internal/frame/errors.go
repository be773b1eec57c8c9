package frame

import (
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/filter"
)

// errTruncated is what a file is that ends too early.
var errTruncated = fmt.Errorf("%w: %w", filter.ErrCorrupt, io.ErrUnexpectedEOF)

// errTextMode is what a file may be that has some of the magic's bytes.
var errTextMode = fmt.Errorf("%w, or one copied in text mode: %w", filter.ErrNotFilter, filter.ErrCorrupt)

// wrong returns a FormatError that matches err. Value and limit are shown as fmt
// shows them, and may be nil.
func wrong(err error, offset uint64, field string, value, limit any) error {
	return &filter.FormatError{Field: field, Value: text(value), Limit: text(limit), Offset: offset, Err: err}
}

// corrupt returns a FormatError that matches ErrCorrupt.
func corrupt(offset uint64, field string, value, limit any) error {
	return wrong(filter.ErrCorrupt, offset, field, value, limit)
}

// UnknownKind is the error about a file of a kind that this release does not have.
func UnknownKind(kind Kind) error {
	return wrong(filter.ErrKind, offKind, "header: kind", kind, "a kind of this release")
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%+v", v)
}

// atMost and between are limits.
func atMost(most uint64) string         { return fmt.Sprintf("at most %d", most) }
func between(least, most uint64) string { return fmt.Sprintf("%d to %d", least, most) }
