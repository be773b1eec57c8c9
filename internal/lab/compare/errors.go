package compare

import (
	"errors"

	"github.com/everbloom-go/everbloom/filter"
)

func isFull(err error) bool { return errors.Is(err, filter.ErrFull) }

// refused reports whether a Delete changed nothing, which is no failure.
func refused(err error) bool {
	return errors.Is(err, filter.ErrNotFound) || errors.Is(err, filter.ErrPinned)
}
