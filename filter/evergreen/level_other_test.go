//go:build !amd64 || purego

package evergreen

import "testing"

// prefetchAlways does nothing: portable code does not ask for memory ahead.
func prefetchAlways(testing.TB) {}

// eachLevel runs test: there is only the portable code.
func eachLevel(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Run("portable", test)
}
