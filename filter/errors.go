package filter

import (
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// What a caller may decide upon. They come wrapped: use [errors.Is].
var (
	// ErrFull is returned by Add when a filter of bounded size has no room for
	// the key. Nothing was changed.
	ErrFull = errors.New("filter is full")

	// ErrStorage is returned when memory or a file that backs the filter could
	// not be had. Nothing was changed.
	ErrStorage = errors.New("no storage")

	// ErrNotFound is returned by Delete when the key is certainly not in the set.
	// Nothing was changed.
	ErrNotFound = errors.New("key not found")

	// ErrPinned is returned by Delete when the key cannot be distinguished from
	// others, so that deleting it might be a false negative for one of them. Nothing was changed.
	ErrPinned = errors.New("key is pinned")

	// ErrIncompatible is returned by Union and Intersect when two filters differ
	// in kind, shape or hash. Nothing was changed.
	ErrIncompatible = errors.New("filters are incompatible")
)

// unsupported is the answer to what f's kind cannot do.
func unsupported(f Filter, verb string) error {
	return fault.Unsupported("filter", f.Info().Kind, verb)
}

// A MismatchError says in what two filters differ that cannot be merged. It matches
// [ErrIncompatible].
type MismatchError struct {
	Field      string // "kind", "hash" or a field of the shape
	One, Other string // its values; both empty if they are secret
}

// Error names the field and its values.
func (e *MismatchError) Error() string {
	text := e.Field + " differs"
	if e.One != "" || e.Other != "" {
		text = fmt.Sprintf("%s is %s in one and %s in the other", e.Field, e.One, e.Other)
	}
	return text + ": " + ErrIncompatible.Error()
}

// Unwrap returns ErrIncompatible.
func (e *MismatchError) Unwrap() error { return ErrIncompatible }
