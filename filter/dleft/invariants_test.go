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

func TestChecksFindDamage(t *testing.T) {
	for name, damage := range map[string]func(*Filter){
		"count of cells":    func(f *Filter) { f.used++ },
		"count of copies":   func(f *Filter) { f.exact-- },
		"vague copies":      func(f *Filter) { f.vague = 5 },
		"tail":              func(f *Filter) { f.words[len(f.words)-1] |= 1 << 63 },
		"counter of none":   func(f *Filter) { f.set(0, 0, 1) },
		"second copy":       func(f *Filter) { twice(f) },
		"short way":         func(f *Filter) { *f = *build(t, paper); f.quick.stride++ },
		"impossible shape":  func(f *Filter) { f.shape.Cells = 0 },
		"fingerprint moved": func(f *Filter) { f.set(1, 1, 0) },
	} {
		f := build(t, Shape{Subtables: 3, Buckets: 5, Cells: 5, Remainder: 9, Counter: 2})
		add(t, f, 1, 2, 3)
		damage(f)
		if err := f.check(); err == nil {
			t.Errorf("%s: damage was not found", name)
		}
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
