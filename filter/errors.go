package filter

import (
	"errors"
	"fmt"
)

// What a caller may want to decide upon. They come wrapped: use [errors.Is].
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

	// ErrPinned is returned by Delete when the key cannot be told apart from
	// others, so that deleting it might deny one of them. Nothing was changed.
	ErrPinned = errors.New("key is pinned")

	// ErrIncompatible is returned by Union and Intersect when two filters differ
	// in kind, shape or hash. Nothing was changed.
	ErrIncompatible = errors.New("filters are incompatible")
)

// unsupported is the answer to a wish that f's kind cannot fulfil.
func unsupported(f Filter, verb string) error {
	return fmt.Errorf("filter: kind %s cannot %s: %w", f.Info().Kind, verb, errors.ErrUnsupported)
}
