package merging

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Shaped is a filter with a geometry of type S: a comparable struct of plain
// numbers.
type Shaped[S comparable] interface {
	filter.Filter
	Shape() S
}

// Peer returns other as a filter of f's type and shape, for kinds that can be
// merged only with their like. Otherwise the error is ErrIncompatible and names
// what differs.
func Peer[F Shaped[S], S comparable](f F, other filter.Filter) (F, error) {
	o, ok := other.(F)
	if !ok {
		var none F
		mismatch := &filter.MismatchError{Field: "kind", One: f.Info().Kind, Other: kindOf(other)}
		return none, fault.In("filter", "merge: %w", mismatch)
	}
	return o, Same(f.Info().Kind, f.Shape(), o.Shape())
}

func kindOf(f filter.Filter) string {
	if f == nil {
		return "nothing"
	}
	return f.Info().Kind
}

// Same names the first field in which two shapes of one kind differ, and returns nil
// if they do not.
func Same[S comparable](kind string, a, b S) error {
	as, bs := frame.ShapeOf(a), frame.ShapeOf(b)
	for i := range as {
		if as[i] != bs[i] {
			mismatch := &filter.MismatchError{Field: as[i].Name, One: as[i].Value.String(), Other: bs[i].Value.String()}
			return fault.In("filter", "merge two of kind %s: %w", kind, mismatch)
		}
	}
	return nil
}
