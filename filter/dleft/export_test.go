package dleft

import (
	"bytes"
	"fmt"
)

// check says what is wrong inside of the filter: the reader counts all cells anew.
func (f *Filter) check() error {
	var b bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&b); err != nil {
		return err
	}
	g, err := Read(&b)
	if err == nil && g.tally != f.tally {
		err = fmt.Errorf("counted %+v, read %+v", f.tally, g.tally)
	}
	return err
}

// Check is for tests of the package from outside.
func (f *Filter) Check() error { return f.check() }
