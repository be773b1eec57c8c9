//go:build !amd64 || purego

package bloom

import "testing"

// runner is a *testing.T or a *testing.B.
type runner[T any] interface {
	testing.TB
	Run(name string, f func(T)) bool
}

// eachLevel runs test once: there is only the portable code.
func eachLevel[T runner[T]](t T, test func(t T)) {
	t.Helper()
	t.Run("portable", test)
}
