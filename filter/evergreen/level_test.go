//go:build amd64 && !purego

package evergreen

import "testing"

// prefetchAlways has even the smallest filters ask for memory ahead, until the test ends.
func prefetchAlways(tb testing.TB) {
	tb.Helper()
	before := prefetchFrom
	prefetchFrom = minBlocks
	tb.Cleanup(func() { prefetchFrom = before })
}

// eachLevel runs test once for every set of instructions this machine has.
func eachLevel(t *testing.T, test func(t *testing.T)) {
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
