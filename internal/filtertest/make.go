package filtertest

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

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
