package dynamic

import "fmt"

// check reports whether the filter is what its documentation says. What is inside
// of a unit was checked when it was made.
func (f *Filter) check() error {
	if err := f.shape.check(); err != nil {
		return err
	}
	if len(f.units) == 0 {
		return fmt.Errorf("dynamic: no units")
	}
	for i := range f.units {
		u := &f.units[i]
		if u.set > f.shape.Full {
			return fmt.Errorf("dynamic: unit %d has %d positions set, at most %d", i, u.set, f.shape.Full)
		}
		if u.set != u.part.SetBits() || &u.words[0] != &u.part.Words()[0] {
			return fmt.Errorf("dynamic: unit %d has %d positions set, noted are %d", i, u.part.SetBits(), u.set)
		}
		if u.empty() && (u.set > 0 || i < len(f.units)-1) {
			return fmt.Errorf("dynamic: unit %d of %d has no keys and %d positions set", i, len(f.units), u.set)
		}
	}
	return nil
}
