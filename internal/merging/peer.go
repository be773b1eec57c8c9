package merging

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
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
		return none, fmt.Errorf("filter: merge %s with %s: %w", f.Info().Kind, kindOf(other), filter.ErrIncompatible)
	}
	if a, b := f.Shape(), o.Shape(); a != b {
		return o, fmt.Errorf("filter: merge two of kind %s: %s: %w", f.Info().Kind, difference(a, b), filter.ErrIncompatible)
	}
	return o, nil
}

func kindOf(f filter.Filter) string {
	if f == nil {
		return "nothing"
	}
	return f.Info().Kind
}

// difference names the first field in which two shapes of one type differ.
func difference(a, b any) string {
	as, bs := frame.ShapeOf(a), frame.ShapeOf(b)
	for i := range as {
		if as[i] != bs[i] {
			return fmt.Sprintf("%s is %v in one and %v in the other", as[i].Name, as[i].Value, bs[i].Value)
		}
	}
	return "shapes differ"
}
