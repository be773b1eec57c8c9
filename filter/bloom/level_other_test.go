//go:build !amd64 || purego

package bloom

import "testing"

// eachLevel runs test once: there is only the portable code.
func eachLevel(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Run("portable", test)
}
