//go:build amd64 && !purego

package bloom

import "testing"

// runner is a *testing.T or a *testing.B.
type runner[T any] interface {
	testing.TB
	Run(name string, f func(T)) bool
}

// eachLevel runs test once for every set of instructions this machine has.
func eachLevel[T runner[T]](t T, test func(t T)) {
	t.Helper()
	best := bestLevel()
	defer func() { level = best }()
	for l, name := range []string{levelPortable: "portable", levelAVX2: "avx2", levelAVX512: "avx512"} {
		if uint8(l) > best {
			t.Logf("%s: this machine cannot", name)
			continue
		}
		level = uint8(l)
		t.Run(name, test)
	}
}
