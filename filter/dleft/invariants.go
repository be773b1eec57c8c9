package dleft

import "fmt"

// check reports whether the filter is what its documentation says.
func (f *Filter) check() error {
	if err := f.shape.check(); err != nil {
		return err
	}
	if f.short && f.quick != newQuick(&f.store) {
		return fmt.Errorf("dleft: the short way leads to other buckets: %+v", f.quick)
	}
	t, err := f.count()
	if err != nil {
		return err
	}
	t.vague = f.vague
	if t != f.tally {
		return fmt.Errorf("dleft: counted %+v, found %+v", f.tally, t)
	}
	if f.stuck == 0 && f.vague != 0 {
		return fmt.Errorf("dleft: %d copies in stuck cells, of which there are none", f.vague)
	}
	return nil
}

// count counts the cells anew, all but the copies in stuck ones, which only the
// filter's history tells, and checks them: empty ones are all zero, no
// fingerprint has two, and nothing is behind the last.
func (f *Filter) count() (tally, error) {
	var t tally
	for cell := range f.shape.cells() {
		if remainder, counter := f.get(cell); remainder == 0 && counter != 0 {
			return t, fmt.Errorf("cell %d is empty and counts %d", cell, counter)
		}
	}
	for cell, fp := range f.all() {
		if n := f.places(fp); n != 1 {
			return t, fmt.Errorf("cell %d holds fingerprint %#x, which is in %d cells", cell, fp, n)
		}
		t.used++
		t.double += f.weight(fp)
		if _, counter := f.get(cell); counter == f.stick {
			t.stuck++
		} else {
			t.exact += counter + 1
		}
	}
	if end := f.shape.Bits() % 64; end != 0 && f.words[len(f.words)-1]>>end != 0 {
		return t, fmt.Errorf("bits behind the last cell are set: %#x", f.words[len(f.words)-1])
	}
	return t, nil
}
