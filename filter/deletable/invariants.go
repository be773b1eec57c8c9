package deletable

import "fmt"

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
