// Package linetest has tests try every set of instructions that the machine has.
package linetest

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/line"
)

// runner is a *testing.T or a *testing.B.
type runner[T any] interface {
	testing.TB
	Run(name string, f func(T)) bool
}

// EachLevel runs test once for every level of this machine. What was made before keeps
// the level that it was made with.
func EachLevel[T runner[T]](t T, test func(t T)) {
	t.Helper()
	defer func() { line.CPU = line.Best() }()
	for l, name := range []string{line.Portable: "portable", line.AVX2: "avx2", line.AVX512: "avx512"} {
		if line.Level(l) <= line.Best() {
			line.CPU = line.Level(l)
			t.Run(name, test)
		}
	}
}
