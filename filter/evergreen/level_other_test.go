//go:build !amd64 || purego

package evergreen

import "testing"

// eachLevel runs test: there is only the portable code.
func eachLevel(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Run("portable", test)
}
