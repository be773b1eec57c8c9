package filtertest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// A Subject is a kind of filter under test.
type Subject struct {
	// Name says which kind.
	Name string

	// New returns an empty filter made for the given number of keys and rate.
	// All filters it makes for the same numbers can be merged, if the kind can.
	New func(items uint64, fpr float64) (filter.Filter, error)

	// Read reads back what Snapshot wrote. It may be nil if the kind is no
	// Snapshotter.
	Read func(io.Reader) (filter.Filter, error)

	// KeyBits is the width of the keys that the kind takes, for kinds over a
	// universe of fewer than 2^64 keys; 0 means 64, and less than 20 will not do.
	KeyBits int

	// BoundOnly says that Info's FPR is an upper bound, so that a measured rate
	// below it is no fault.
	BoundOnly bool
}

// Run checks everything that the filters of s promise, in subtests that are
// named after what must hold. What the kind has no ability for is left out.
func Run(t *testing.T, s Subject) {
	t.Helper()
	f, err := s.New(1000, 0.01)
	if err != nil {
		t.Fatalf("%s: making a filter for 1000 keys at 1 %%: %v", s.Name, err)
	}
	for _, c := range checks {
		if c.applies(f) {
			t.Run(c.name, func(t *testing.T) {
				if !slices.Contains(sharing, c.name) {
					effort.OneGoroutine(t)
				}
				c.run(checker{t, s})
			})
		}
	}
}

// sharing names the checks that have several goroutines.
var sharing = []string{"ReadersMayShare", "ReadersNeedNoLock", "ConcurrentUseIsSafe", "ConcurrentClearIsSafe"}

// A check is one thing that must hold.
type check struct {
	name    string
	applies func(filter.Filter) bool
	run     func(checker)
}

func always(filter.Filter) bool { return true }

// can reports whether f has the optional interface A.
func can[A filter.Filter](f filter.Filter) bool {
	_, ok := f.(A)
	return ok
}

// both is true where two conditions are.
func both(a, b func(filter.Filter) bool) func(filter.Filter) bool {
	return func(f filter.Filter) bool { return a(f) && b(f) }
}

var (
	deletes      = can[filter.Deleter]
	merges       = can[filter.Merger]
	prepares     = can[merging.Preparer]
	resizes      = can[filter.Resizer]
	clears       = can[filter.Clearer]
	snapshots    = can[filter.Snapshotter]
	isLockFree   = can[filter.LockFree]
	isConcurrent = can[filter.Concurrent]
)

var checks = []check{
	{"NoFalseNegatives", always, noFalseNegatives},
	{"EmptyFilterHasNoKeys", always, emptyFilterHasNoKeys},
	{"FullFilterRefusesWithoutChange", always, fullFilterRefusesWithoutChange},
	{"InfoIsConsistent", always, infoIsConsistent},
	{"OverfullIsTold", always, overfullIsTold},
	{"InfoSurvivesSaturation", always, infoSurvivesSaturation},
	{"RateIsAsPredictedAndAsked", always, rateIsAsPredictedAndAsked},
	{"NothingIsAllocated", always, nothingIsAllocated},
	{"BatchEqualsSingles", always, batchEqualsSingles},
	{"BatchKeepsItsBounds", always, batchKeepsItsBounds},
	{"ReadersMayShare", always, readersMayShare},
	{"DeleteKeepsOtherKeys", deletes, deleteKeepsOtherKeys},
	{"DeleteRefusesAbsentKeys", deletes, deleteRefusesAbsentKeys},
	{"UnionHasTheKeysOfBoth", merges, unionHasTheKeysOfBoth},
	{"IntersectionKeepsCommonKeys", merges, intersectionKeepsCommonKeys},
	{"MergeRefusesOtherKinds", merges, mergeRefusesOtherKinds},
	{"UnionIsAllOrNothing", merges, unionIsAllOrNothing},
	{"PreparedUnionChangesNothing", prepares, preparedUnionChangesNothing},
	{"ClearLeavesANewFilter", clears, clearLeavesANewFilter},
	{"ResizeKeepsAllKeys", resizes, resizeKeepsAllKeys},
	{"SnapshotReadsBackEqual", snapshots, snapshotReadsBackEqual},
	{"SnapshotIsFrozen", snapshots, snapshotIsFrozen},
	{"ImageIsTheSnapshot", snapshots, imageIsTheSnapshot},
	{"SnapshotReportsWriteErrors", snapshots, snapshotReportsWriteErrors},
	{"ReadRefusesTruncation", snapshots, readRefusesTruncation},
	{"ReadersNeedNoLock", isLockFree, readersNeedNoLock},
	{"ForgedFilesCostLittle", snapshots, forgedFilesCostLittle},
	{"ConcurrentUseIsSafe", isConcurrent, concurrentUseIsSafe},
	{"ConcurrentClearIsSafe", both(clears, isConcurrent), concurrentClearIsSafe},
}

// A checker runs checks of one subject. It holds the TB, so that the suite can
// be run against one that only takes notes.
type checker struct {
	testing.TB
	s Subject
}

// make returns an empty filter.
func (c checker) make(items uint64, fpr float64) filter.Filter {
	f, err := c.s.New(items, fpr)
	if err != nil {
		c.Fatalf("making a filter for %d keys at rate %g: %v", items, fpr, err)
	}
	return f
}

// filled returns a filter made for all the keys, at 1 %, with the keys in it.
func (c checker) filled(keys []filter.Key) filter.Filter {
	f := c.make(uint64(len(keys)), 0.01)
	c.addAll(f, keys)
	return f
}

// addAll adds keys that must find room.
func (c checker) addAll(f filter.Filter, keys []filter.Key) {
	for i, k := range keys {
		if _, err := f.Add(k); err != nil {
			c.Fatalf("adding key %d of %d, %#x: %v", i, len(keys), k, err)
		}
	}
}

// wantAll checks that all keys are found.
func (c checker) wantAll(f filter.Filter, keys []filter.Key, when string) {
	missing := 0
	for i, k := range keys {
		if f.MayContain(k) {
			continue
		}
		if missing++; missing == 1 {
			c.Errorf("%s: key %d of %d, %#x, is in the set and was not found", when, i, len(keys), k)
		}
	}
	if missing > 1 {
		c.Errorf("%s: %d of %d keys that are in the set were not found", when, missing, len(keys))
	}
}

// keys returns n keys that a stream calls present.
func (c checker) keys(seed, n uint64) []filter.Key { return c.stream(seed).Keys(n) }

func (c checker) stream(seed uint64) Stream { return c.s.stream(seed) }

func (s Subject) stream(seed uint64) Stream { return Stream{Seed: seed, Bits: s.KeyBits} }

// state is all that can be seen of a filter without asking for keys: its stored
// form, if it has one, else nothing. Storing may finish work that the filter has
// put off, which Info shows: ask for the state first where both are compared.
func (c checker) state(f filter.Filter) []byte {
	w, err := filter.Snapshot(f)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return c.written(w)
}

// written returns what w writes.
func (c checker) written(w io.WriterTo) []byte {
	var b bytes.Buffer
	n, err := w.WriteTo(&b)
	if err != nil {
		c.Fatalf("writing a snapshot: %v", err)
	}
	if n != int64(b.Len()) {
		c.Errorf("writing a snapshot: WriteTo reports %d bytes and wrote %d", n, b.Len())
	}
	return b.Bytes()
}
