package counting

import (
	"fmt"
	"math/bits"
)

// check reports whether the filter is what its documentation says.
func (f *Filter) check() error {
	if err := f.Shape().check(); err != nil {
		return err
	}
	fresh := *f
	sum := fresh.recount()
	if fresh.positive != f.positive || fresh.saturated != f.saturated {
		return fmt.Errorf("counting: %d counters are above zero and %d saturated, counted %d and %d",
			fresh.positive, fresh.saturated, f.positive, f.saturated)
	}
	return f.checkKeys(sum)
}

// checkKeys reports whether the number of keys can be true for counters with the
// given sum, and whether nothing lies behind the last counter. Every Add raises
// the sum by the number of hashes and every Delete lowers it by as much, until a
// counter saturates; from then on nothing follows from the sum.
func (f *Filter) checkKeys(sum uint64) error {
	if last, end := f.words[len(f.words)-1], f.Shape().Bits()%64; end != 0 && last>>end != 0 {
		return fmt.Errorf("counting: bits beyond counter %d are set: %#x", f.counters, last)
	}
	if !f.counted() || f.saturated > 0 {
		return nil
	}
	if hi, want := bits.Mul64(f.keys, uint64(f.hashes)); hi != 0 || want != sum {
		return fmt.Errorf("counting: the sum of all counters is %d, want %d hashes for each of %d keys", sum, f.hashes, f.keys)
	}
	return nil
}
