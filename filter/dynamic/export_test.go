package dynamic

import "github.com/everbloom-go/everbloom/filter"

// Pack merges units that fit into one.
func (f *Filter) Pack() { f.pack() }

// Thin returns a filter with so many units of shape s, unit i with the i-th of the keys.
func Thin(s Shape, keys []filter.Key) (*Filter, error) {
	units := make([]unit, len(keys))
	for i, k := range keys {
		var err error
		if units[i], err = newUnit(s); err != nil {
			return nil, err
		}
		units[i].add(k)
	}
	return over(s, units), nil
}

// Check reports whether every list is what its documentation says.
func (f *Parallel) Check() (err error) {
	for i := range f.lists {
		if err = f.lists[i].check(); err != nil {
			break
		}
	}
	return err
}

// Answering returns how many units answer for k.
func (f *Filter) Answering(k filter.Key) (n int) {
	for i := range f.units {
		if f.seek(f.units[i:i+1], k) == 0 {
			n++
		}
	}
	return n
}

// SetBits returns how many positions are set in each unit.
func (f *Filter) SetBits() (sets []uint64) {
	for i := range f.units {
		sets = append(sets, f.units[i].set)
	}
	return sets
}
