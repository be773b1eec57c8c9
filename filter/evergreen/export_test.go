package evergreen

import "testing"

// Check is for tests of the package from outside.
func (f *Filter) Check() error { return f.check() }

// Inboxes has even the smallest filters use inboxes, until the test ends.
func Inboxes(tb testing.TB) {
	tb.Helper()
	before := inboxFrom
	inboxFrom = minBlocks
	tb.Cleanup(func() { inboxFrom = before })
}

// Eager has even the smallest filters use inboxes, leave holes and ask for memory
// ahead, until the test ends.
func Eager(tb testing.TB) {
	tb.Helper()
	Inboxes(tb)
	prefetchAlways(tb)
	before := holesFrom
	holesFrom = 32
	tb.Cleanup(func() { holesFrom = before })
}
