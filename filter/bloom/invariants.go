package bloom

import (
	"fmt"

	"github.com/everbloom-go/everbloom/internal/bitvec"
)

// check reports whether the count of set bits is true.
func (a *array) check() error {
	if n := bitvec.Vector(a.words).Count(); n != a.set {
		return fmt.Errorf("bloom: %d bits are set, counted %d", n, a.set)
	}
	return nil
}

// check reports whether the filter is what its documentation says.
func (f *Filter) check() error {
	if err := f.Shape().check(); err != nil {
		return err
	}
	if err := f.checkTail(); err != nil {
		return err
	}
	return f.array.check()
}

// checkTail reports whether the unused bits of the last word are clear.
func (f *Filter) checkTail() error {
	if last := f.words[len(f.words)-1]; f.size%64 != 0 && last>>(f.size%64) != 0 {
		return fmt.Errorf("bloom: bits beyond %d are set: %#x", f.size, last)
	}
	return nil
}

// check reports whether the filter is what its documentation says.
func (f *Blocked) check() error {
	if err := f.Shape().check(); err != nil {
		return err
	}
	if &f.first[0] != &f.words[0] || uint64(len(f.words)) != f.blocks*uint64(len(f.first)) {
		return fmt.Errorf("bloom: %d blocks over %d words", f.blocks, len(f.words))
	}
	return f.array.check()
}
