package filtertest

import (
	"strconv"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// Make returns what a constructor makes of a wish or a shape that is in order:
//
//	f := filtertest.Make(t, bloom.New, bloom.Config{Items: 1000})
func Make[W, F any](tb testing.TB, construct func(W) (F, error), wish W) F {
	tb.Helper()
	f, err := construct(wish)
	if err != nil {
		tb.Fatalf("%+v: %v", wish, err)
	}
	return f
}

// Find returns the first present key of the zero [Stream] that is as wished. It
// looks at a million.
func Find(tb testing.TB, wish func(filter.Key) bool) filter.Key {
	tb.Helper()
	for i := range uint64(1_000_000) {
		if k := (Stream{}).Present(i); wish(k) {
			return k
		}
	}
	tb.Fatal("no key of a million is as wished")
	return 0
}

// UnderRace is whether the race detector slows everything down. Long runs of one
// goroutine are shorter then: there is nothing for it to find.
const UnderRace = effort.UnderRace

// Operations is how many operations a long test runs: as many as asked, which is
// the text of an environment variable, or else as many as are quick.
func Operations(tb testing.TB, asked string) int {
	tb.Helper()
	if asked == "" {
		return effort.PickVariant(2_000, 20_000, 100_000)
	}
	n, err := strconv.Atoi(asked)
	if err != nil || n < 1 {
		tb.Fatalf("%q is no number of operations", asked)
	}
	return n
}
