package filtertest

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// A Stream gives keys by number: any number of them that are present in a test
// and any number that are absent, all distinct. The same Stream always gives the
// same keys. The zero Stream is ready to use.
type Stream struct {
	Seed uint64

	// Bits is the width of the keys, 2 to 64; 0 means 64. There are 2^(Bits-1)
	// present and as many absent keys; higher numbers give the same ones again.
	Bits int
}

// Present returns the i-th key that is present.
func (s Stream) Present(i uint64) filter.Key { return s.permute(2 * i) }

// Absent returns the i-th key that is absent.
func (s Stream) Absent(i uint64) filter.Key { return s.permute(2*i + 1) }

// Keys returns the first n present keys.
func (s Stream) Keys(n uint64) []filter.Key {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = s.Present(uint64(i))
	}
	return keys
}

// Keys returns n distinct keys of 64 bits, the present ones of the Stream with
// the given seed.
func Keys(seed, n uint64) []filter.Key { return Stream{Seed: seed}.Keys(n) }

// permute is a permutation of the numbers of s.Bits bits, since each of its steps
// is one: so the keys of one stream are distinct without a look at the others.
func (s Stream) permute(x uint64) filter.Key {
	const odd = 0xD6E8FEB86659FD93
	width := uint(s.Bits)
	if width == 0 {
		width = 64
	}
	mask := uint64(1)<<(width-1)<<1 - 1
	x += s.Seed * odd
	for range 3 {
		x &= mask
		x ^= x >> ((width + 1) / 2)
		x *= odd
	}
	return filter.Key(x & mask)
}

// Make returns what a constructor makes of a config or a shape that is in order:
//
//	f := filtertest.Make(t, bloom.New, bloom.Config{Items: 1000})
func Make[C, F any](tb testing.TB, construct func(C) (F, error), config C) F {
	tb.Helper()
	f, err := construct(config)
	if err != nil {
		tb.Fatalf("%+v: %v", config, err)
	}
	return f
}

// Find returns the first present key of the zero [Stream] that fits. It looks at a
// million.
func Find(tb testing.TB, fits func(filter.Key) bool) filter.Key {
	tb.Helper()
	for i := range uint64(1_000_000) {
		if k := (Stream{}).Present(i); fits(k) {
			return k
		}
	}
	tb.Fatal("no key of a million fits")
	return 0
}
