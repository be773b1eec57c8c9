package filtertest

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

func exactSubject(bounded bool, d filter.Duplicates) Subject {
	return Subject{
		Name: "exact-" + d.String(),
		New: func(items uint64, _ float64) (filter.Filter, error) {
			return NewExact(ExactConfig{Items: items, Bounded: bounded, Duplicates: d}), nil
		},
		Read: func(r io.Reader) (filter.Filter, error) { return ReadExact(r) },
	}
}

// exactSubjects are correct kinds of all manners.
var exactSubjects = map[string]Subject{
	"Ignored":        exactSubject(false, filter.DuplicatesIgnored),
	"Counted":        exactSubject(false, filter.DuplicatesCounted),
	"Pinned":         exactSubject(false, filter.DuplicatesPin),
	"IgnoredBounded": exactSubject(true, filter.DuplicatesIgnored),
	"CountedBounded": exactSubject(true, filter.DuplicatesCounted),
	"PinnedBounded":  exactSubject(true, filter.DuplicatesPin),
}

func TestExactPasses(t *testing.T) {
	for _, name := range []string{"Ignored", "CountedBounded"} {
		t.Run(name, func(t *testing.T) { Run(t, exactSubjects[name]) })
	}
	// What differs where duplicates pin.
	names := "DeleteKeepsOtherKeys DeleteRefusesAbsentKeys UnionHasTheKeysOfBoth"
	for name, notes := range failures(t, exactSubjects["PinnedBounded"], names) {
		t.Errorf("%s: %s", name, notes)
	}
}

func TestExactPassesModel(t *testing.T) {
	effort.OneGoroutine(t)
	for name, s := range exactSubjects {
		t.Run(name, func(t *testing.T) { Model(t, s, 1, 10_000) })
	}
}

func FuzzExact(f *testing.F) {
	Fuzz(f, exactSubjects["CountedBounded"])
}
