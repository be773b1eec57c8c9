package dleft

import "fmt"

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
