package deletable

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
)

// check reports whether the filter is what its documentation says.
func (f *Filter) check() error {
	if err := f.shape.check(); err != nil {
		return err
	}
	if err := f.checkBits(); err != nil {
		return err
	}
	set, marked := bitvec.Vector(f.cells).Count(), bitvec.Vector(f.marks).Count()
	if set != f.set || marked != f.marked {
		return fmt.Errorf("deletable: %d cells and %d marks are set, counted %d and %d", set, marked, f.set, f.marked)
	}
	if f.keys > f.set {
		return fmt.Errorf("deletable: %d keys with %d set cells", f.keys, f.set)
	}
	return f.checkView()
}

// checkView reports whether queries and changes agree on some keys.
func (f *Filter) checkView() error {
	for k := range filter.Key(64) {
		if present, _ := f.look(f.mixer.Mix(k)); f.MayContain(k) != present {
			return fmt.Errorf("deletable: key %d is present by its positions: %t, not so for queries", k, present)
		}
	}
	return nil
}

// checkBits reports whether all bits are clear that stand for nothing: those
// beyond the last cell and beyond the last region that has cells.
func (f *Filter) checkBits() error {
	if w, ok := beyond(f.cells, f.size); !ok {
		return fmt.Errorf("deletable: cells beyond %d are set: %#x", f.size, w)
	}
	if w, ok := beyond(f.marks, f.shape.usedRegions()); !ok {
		return fmt.Errorf("deletable: marks beyond %d are set: %#x", f.shape.usedRegions(), w)
	}
	return nil
}

// beyond returns the first word with a bit from number n on, or ok if none has.
func beyond(words []uint64, n uint64) (w uint64, ok bool) {
	for i := n / 64; i < uint64(len(words)); i++ {
		w := words[i]
		if i == n/64 {
			w = w >> (n % 64) << (n % 64)
		}
		if w != 0 {
			return w, false
		}
	}
	return 0, true
}
