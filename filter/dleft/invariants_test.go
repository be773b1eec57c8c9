package dleft

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestInvariantsHoldThroughAnything has filters of all sorts, but only the small
// ones: checking takes time.
func TestInvariantsHoldThroughAnything(t *testing.T) {
	for _, s := range naiveShapes[:9] {
		filtertest.Invariants(t, s.Buckets, 80, func() *Filter { return build(t, s) }, (*Filter).check)
	}
}

// twice stores the fingerprint of key 1 in every subtable.
func twice(f *Filter) {
	f.tally = tally{}
	for i := range f.subtables {
		bucket, remainder := f.at(i, f.fingerprint(1))
		f.set(bucket*f.perBucket+4, remainder, 0)
	}
}

// TestFingerprintInTwoSubtablesIsRefused reads a file that is in order but for
// a fingerprint that is everywhere it may be.
func TestFingerprintInTwoSubtablesIsRefused(t *testing.T) {
	for _, s := range naiveShapes[3:6] {
		f := build(t, s)
		twice(f)
		f.used, f.exact = f.subtables, f.subtables
		_, err := Read(bytes.NewReader(filtertest.Stored(t, f)))
		if !errors.Is(err, filter.ErrCorrupt) || !strings.Contains(err.Error(), "cells") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
