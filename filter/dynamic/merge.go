package dynamic

import (
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Union adds what is in other, a *Filter of equal shape: its units, copied, join
// the list, and units that fit into one are merged. Each key is in the set as
// often as in both operands together. A key that both had may be pinned. The only
// error but ErrIncompatible is ErrStorage, and then nothing has changed.
func (f *Filter) Union(other filter.Filter) error {
	return merging.Union(f, other)
}

// PrepareUnion copies the units of other, and returns the function that joins them to
// the list.
func (f *Filter) PrepareUnion(other filter.Filter) (finish func(commit bool) error, err error) {
	o, err := merging.Peer(f, other)
	if err != nil {
		return nil, err
	}
	if o == f {
		return merging.OnCommit(f.double), nil
	}
	c, err := o.copied()
	if err != nil {
		return nil, err
	}
	return merging.OnCommit(func() { f.take(c.units) }), nil
}

// double adds f to itself: every unit again to itself, which sets no position.
func (f *Filter) double() {
	for i := range f.units {
		f.units[i].union(&f.units[i])
	}
}

// copied returns the filter in memory of its own.
func (f *Filter) copied() (*Filter, error) {
	units := make([]unit, len(f.units))
	for i := range units {
		var err error
		if units[i], err = f.units[i].copied(f.shape); err != nil {
			return nil, err
		}
	}
	return over(f.shape, units), nil
}

// take appends the units, which belong to f from then on.
func (f *Filter) take(units []unit) {
	f.units, f.uneven = append(f.units, units...), true
	f.pack()
	last := len(f.units) - 1
	if i := f.thinnest(last); i >= 0 && f.units[i].set < f.units[last].set {
		f.units[i], f.units[last] = f.units[last], f.units[i]
	}
}

// Intersect is beyond this kind: of two lists it could keep no more than all of
// one. The error wraps errors.ErrUnsupported.
func (f *Filter) Intersect(filter.Filter) error { return errIntersect }

var errIntersect = fmt.Errorf("dynamic: intersect: %w", errors.ErrUnsupported)
