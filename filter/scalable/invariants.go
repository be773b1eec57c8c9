package scalable

import (
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// check reports whether the filter is what its documentation says.
func (f *Filter) check() error {
	if err := f.shape.check(); err != nil {
		return err
	}
	if len(f.units) == 0 {
		return errors.New("scalable: no units")
	}
	for i := range f.units {
		if err := f.checkUnit(i); err != nil {
			return fmt.Errorf("scalable: unit %d of %d: %w", i, len(f.units), err)
		}
	}
	return nil
}

// checkUnit reports whether a unit has the keys it should have, and is large
// enough for them.
func (f *Filter) checkUnit(i int) error {
	u := &f.units[i]
	if f.shape.beyond(i) || u.capacity != f.shape.Items<<i {
		return fmt.Errorf("for %d keys, want %d doubled %d times, at most %d", u.capacity, f.shape.Items, i, uint64(maxItems))
	}
	if u.keys > u.capacity || u.keys < u.capacity && i < len(f.units)-1 {
		return fmt.Errorf("%d keys of %d", u.keys, u.capacity)
	}
	// Every key set a bit that was clear, and no more than it has.
	s, set := u.Shape(), u.SetBits()
	if set < u.keys || u.keys < (set+uint64(s.Hashes)-1)/uint64(s.Hashes) {
		return fmt.Errorf("%d keys with %d hashes have set %d bits", u.keys, s.Hashes, set)
	}
	if s.Salt != f.shape.Salt {
		return fmt.Errorf("salt %d, want %d", s.Salt, f.shape.Salt)
	}
	// The formula may have become a little better since.
	if rate, limit := most(u.capacity, s.Blocks, s.Hashes/theory.BlockWords), unitFPR(f.shape.FPR, i); rate > 1.01*limit {
		return fmt.Errorf("%d blocks and %d hashes give a rate of up to %g, at most %g", s.Blocks, s.Hashes, rate, limit)
	}
	return nil
}
