// Package effort says how much work tests do. Every test has a short form, which
// go test runs. A test that is worth more time than that has a long form, too,
// which runs when EVERBLOOM_LONG is set, as make nightly does. The short form
// tries the same code with fewer keys, trials or positions; it skips only what
// another short form tries.
//
// The variable stands in for go test's -short, so that go test without any flag
// is quick, and for a flag of our own, which packages that do not declare it
// would refuse.
package effort

import (
	"iter"
	"math/bits"
	"math/rand/v2"
	"os"
	"testing"
)

// Variant is whether the tests run a second time, because something is different
// from the plain build: the race detector, no assembly, or words of 32 bits. The
// plain build tries the numbers, so that a variant needs only a few of them.
const Variant = UnderRace || purego || bits.UintSize == 32

// Long reports whether tests run in their long form.
func Long() bool {
	asked := os.Getenv("EVERBLOOM_LONG")
	return asked != "" && asked != "0"
}

// Pick returns the value for the form that runs.
func Pick[T any](short, long T) T {
	if Long() {
		return long
	}
	return short
}

// OneGoroutine skips a test in which the race detector finds nothing, and which it
// slows down tenfold. Without the detector the test runs, and in the long form, too.
func OneGoroutine(tb testing.TB) {
	tb.Helper()
	if UnderRace && !Long() {
		tb.Skip("one goroutine: nothing to find for the race detector")
	}
}

// LongOnly skips a test that has no short form: what it asks is asked of parts in short forms,
// and it asks it of the whole, which takes minutes on a busy machine.
func LongOnly(tb testing.TB) {
	tb.Helper()
	if !Long() {
		tb.Skip("runs in the long form, with EVERBLOOM_LONG=1")
	}
}

// PlainOnly skips a test of one goroutine that asks the same of every variant: its
// subject has neither assembly nor words whose size matters. In the long form it
// runs in all of them.
func PlainOnly(tb testing.TB) {
	tb.Helper()
	if Variant && !Long() {
		tb.Skip("nothing in this test depends on the variant")
	}
}

// PickVariant is Pick for the work of one goroutine. The short form takes variant
// where [Variant] is set; the long form takes short under the race detector.
func PickVariant[T any](variant, short, long T) T {
	switch {
	case UnderRace:
		return Pick(variant, short)
	case Variant:
		return Pick(variant, long)
	default:
		return Pick(short, long)
	}
}

// Positions gives the positions below n that a test of all of them tries. In the
// long form that is each. In the short form it is each of the first head and every
// step-th of the others, from a start that is drawn anew in each run and logged,
// so that many runs try all.
func Positions(tb testing.TB, n, head, step int) iter.Seq[int] {
	tb.Helper()
	step = Pick(step, 1)
	start := rand.IntN(step)
	if step > 1 {
		tb.Logf("positions below %d: the first %d, then every %d-th from %d on", n, head, step, head+start)
	}
	return func(yield func(int) bool) {
		for i := range min(head, n) {
			if !yield(i) {
				return
			}
		}
		for i := head + start; i < n; i += step {
			if !yield(i) {
				return
			}
		}
	}
}

// Brief reports whether a test of one goroutine takes its short form: unless the
// long one is asked for, and always under the race detector, which has nothing to
// find there.
func Brief() bool { return UnderRace || !Long() }

// Operations is how many operations a test of a model runs.
func Operations(tb testing.TB) int {
	tb.Helper()
	return PickVariant(2_000, 20_000, 100_000)
}
