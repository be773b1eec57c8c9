package evergreen

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen/internal/slab"
)

// Check is for tests of the package from outside.
func (f *Filter) Check() error { return f.check() }

// tab returns the table of a filter that has one.
func (f *Filter) tab() *table { return f.table.Load() }

// wantKeys checks that all keys are found, in both ways.
func wantKeys(tb testing.TB, f *Filter, keys []filter.Key) {
	tb.Helper()
	for _, k := range keys {
		if !f.MayContain(k) || !f.Contains(k) {
			tb.Errorf("%#x is absent among %d keys: MayContain %v, Contains %v", k, f.Len(), f.MayContain(k), f.Contains(k))
			return
		}
	}
}

// wantSound checks the invariants and the number of keys.
func wantSound(tb testing.TB, f *Filter, keys int) {
	tb.Helper()
	if err := f.check(); err != nil || f.Len() != uint64(keys) {
		tb.Errorf("%d keys, want %d: %v", f.Len(), keys, err)
	}
}

// Lists has filters turn lists of more than so many keys into tables, until the test
// ends.
func Lists(tb testing.TB, most int) {
	tb.Helper()
	before := listMost
	listMost = most
	tb.Cleanup(func() { listMost = before })
}

// Inboxes has even the smallest filters use inboxes, until the test ends.
func Inboxes(tb testing.TB) {
	tb.Helper()
	before := inboxFrom
	inboxFrom = minBlocks
	tb.Cleanup(func() { inboxFrom = before })
}

// prefetchAlways has even the smallest filters ask for memory ahead, until the test ends.
func prefetchAlways(tb testing.TB) {
	tb.Helper()
	before := prefetchFrom
	prefetchFrom = minBlocks
	tb.Cleanup(func() { prefetchFrom = before })
}

// Eager has even the smallest filters use inboxes, leave places free and ask for memory
// ahead, until the test ends.
func Eager(tb testing.TB) {
	tb.Helper()
	Inboxes(tb)
	prefetchAlways(tb)
	before := slab.FreeFrom
	slab.FreeFrom = 32
	tb.Cleanup(func() { slab.FreeFrom = before })
}
