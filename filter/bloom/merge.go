package bloom

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Union adds what is in other, a *Filter of equal shape. The result is the same,
// bit for bit, as if all keys had been added to f.
func (f *Filter) Union(other filter.Filter) error {
	o, err := merging.Peer(f, other)
	if err == nil {
		f.or(&o.array)
	}
	return err
}

// Intersect keeps what is in both f and other, a *Filter of equal shape. The
// rate is at most that of either, though above what the common keys alone would
// give.
func (f *Filter) Intersect(other filter.Filter) error {
	o, err := merging.Peer(f, other)
	if err == nil {
		f.and(&o.array)
	}
	return err
}

// Union adds what is in other, a *Blocked of equal shape. The result is the same,
// bit for bit, as if all keys had been added to f.
func (f *Blocked) Union(other filter.Filter) error {
	o, err := merging.Peer(f, other)
	if err == nil {
		f.or(&o.array)
	}
	return err
}

// Intersect keeps what is in both f and other, a *Blocked of equal shape. The
// rate is at most that of either, though above what the common keys alone would
// give.
func (f *Blocked) Intersect(other filter.Filter) error {
	o, err := merging.Peer(f, other)
	if err == nil {
		f.and(&o.array)
	}
	return err
}
