package deletable_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

var codec = filtertest.Codec[*deletable.Filter]{
	Kind: frame.Deletable, Read: deletable.Read, Files: os.DirFS("testdata"),
}

// golden fills a filter with keys and deletes every third. It returns what is
// left.
func golden(t *testing.T, s deletable.Shape) (f *deletable.Filter, left []filter.Key) {
	t.Helper()
	f = build(t, s)
	keys := filtertest.KeysOf("the quick brown fox jumps over a lazy dog in some field of hay and rye")
	f.AddBatch(keys)
	for i, k := range keys {
		if i%3 != 0 || f.Delete(k) != nil {
			left = append(left, k)
		}
	}
	return f, left
}

// TestGoldenFilesAreReadForever has files of format version 1. They are never
// written again: every release must read them and give these answers.
func TestGoldenFilesAreReadForever(t *testing.T) {
	for name, shape := range map[string]deletable.Shape{
		"deletable-v1.golden": {Bits: 240, Hashes: 5, Regions: 24, Salt: 3},
		"odd-v1.golden":       {Bits: 1001, Hashes: 4, Regions: 77},
		"array-v1.golden":     {Bits: 400, Hashes: 6, Regions: 200, Salt: 1},
	} {
		made, left := golden(t, shape)
		f := codec.ReadsGolden(t, name, made, left)
		if f.Shape() != shape || f.CleanRegions() != made.CleanRegions() {
			t.Errorf("%s: %+v with %g clean, want %+v with %g", name, f.Shape(), f.CleanRegions(), shape, made.CleanRegions())
		}
	}
}

// TestOwnFilesAreAlwaysRead is about filters after a caller broke the rules and
// deleted keys that were never added: more keys than bits must not be written.
func TestOwnFilesAreAlwaysRead(t *testing.T) {
	f := build(t, deletable.Shape{Bits: 64, Hashes: 2, Regions: 32})
	for i, k := range filtertest.Keys(1, 2000) {
		if i%8 == 0 {
			f.Add(k)
		}
		f.Delete(k)
		if _, err := deletable.Read(bytes.NewReader(filtertest.Stored(t, f))); err != nil {
			t.Fatalf("after %d keys: %v", i, err)
		}
		if err := codec.Whole(f); err != nil {
			t.Fatal(err)
		}
	}
}

func TestForgedFilesAreRefused(t *testing.T) {
	type (
		shape = deletable.Shape
		sum   = frame.Summary
	)
	good := shape{Bits: 70, Hashes: 2, Regions: 10} // 60 cells in 10 regions of 6
	full := sum{FastBits: 128}
	codec.Refuses(t, "more marks than bits", "Regions: 36, must be 1 to 35", shape{Bits: 70, Hashes: 2, Regions: 36}, full, 0, 0)
	codec.Refuses(t, "cells beyond m", "cells beyond 60 are set", good, sum{FastBits: 128, SetBits: 1}, 0, 1<<60)
	codec.Refuses(t, "marks beyond r", "marks beyond 10 are set", good, full, 1<<10, 0)
	codec.Refuses(t, "marks of no region", "marks beyond 33 are set", shape{Bits: 100, Hashes: 2, Regions: 35}, sum{FastBits: 192}, 1<<33, 0, 0)
	codec.Refuses(t, "wrong count", "SetBits:1 FastBits:128", good, sum{FastBits: 128, SetBits: 2}, 0, 1)
	codec.Refuses(t, "too many keys", "keys: 2, want at most 1", good, sum{FastBits: 128, SetBits: 1, Keys: 2}, 0, 1)
}

func FuzzRead(f *testing.F) { codec.FuzzRead(f) }
