package filtertest

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"github.com/everbloom-go/everbloom/filter"
)

// refusals are the errors that a reader may answer damaged bytes with.
var refusals = []error{
	filter.ErrCorrupt, filter.ErrNotFilter, filter.ErrVersion, filter.ErrKind, filter.ErrPart,
}

// readRefusesTruncation cuts the stored form short, and makes it too long: a
// reader that stops early would take a damaged file for a whole one.
func readRefusesTruncation(c checker) {
	stored := c.state(c.filled(c.keys(83, 300)))
	for n := range places(len(stored)) {
		g, err := c.read(stored[:n])
		c.wantRefusal(fmt.Sprintf("the first %d of %d bytes", n, len(stored)), g, err)
	}
	g, err := c.read(append(stored[:len(stored):len(stored)], 0))
	c.wantRefusal("a trailing byte", g, err)
}

// wantRefusal checks that reading gave one of the errors that mean damage.
func (c checker) wantRefusal(what string, g filter.Filter, err error) {
	if err == nil {
		c.Errorf("reading %s gave a filter: %+v", what, g.Info())
	} else if !isRefusal(err) {
		c.Errorf("reading %s: error %q is none of those that tell of damage", what, err)
	}
}

// isRefusal reports whether err tells of damage.
func isRefusal(err error) bool {
	for _, target := range refusals {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// read turns a panic of the reader into a failure of the test.
func (c checker) read(stored []byte) (g filter.Filter, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.Fatalf("reading damaged bytes panics: %v", p)
		}
	}()
	return c.s.Read(bytes.NewReader(stored))
}

// places gives positions in n bytes: all at the start, where the header is, and
// at the end, and every few in between.
func places(n int) iter.Seq[int] {
	const dense, sparse = 400, 61
	return func(yield func(int) bool) {
		for i := 0; i < n; i++ {
			if i > dense && i < n-32 {
				i = min(i+sparse-1, n-32)
			}
			if !yield(i) {
				return
			}
		}
	}
}
