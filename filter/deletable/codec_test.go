package deletable_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// goldens are files of format version 1. They are never written again: every
// release must read them and give these answers.
var goldens = []struct {
	file  string
	shape deletable.Shape
}{
	{"deletable-v1.golden", deletable.Shape{Bits: 240, Hashes: 5, Regions: 24, Salt: 3}},
	{"odd-v1.golden", deletable.Shape{Bits: 1001, Hashes: 4, Regions: 77}},
	{"array-v1.golden", deletable.Shape{Bits: 400, Hashes: 6, Regions: 200, Salt: 1}},
}

// golden fills a filter with words, hashed with XXH3, so that the files hold the
// hash to account, too, and deletes every third. It returns what is left.
func golden(t *testing.T, s deletable.Shape) (f *deletable.Filter, left []filter.Key) {
	t.Helper()
	f = build(t, s)
	var hash filter.Hash
	words := strings.Fields("the quick brown fox jumps over a lazy dog in some field of hay and rye")
	for _, word := range words {
		f.Add(hash.String(word))
	}
	for i, word := range words {
		if k := hash.String(word); i%3 != 0 || f.Delete(k) != nil {
			left = append(left, k)
		}
	}
	return f, left
}

func TestGoldenFilesAreReadForever(t *testing.T) {
	for _, g := range goldens {
		want, err := os.ReadFile(filepath.Join("testdata", g.file))
		if err != nil {
			t.Fatal(err)
		}
		f, err := deletable.Read(bytes.NewReader(want))
		if err != nil {
			t.Fatalf("%s: %v", g.file, err)
		}
		again, left := golden(t, g.shape)
		for _, k := range left {
			if !f.MayContain(k) {
				t.Errorf("%s: %#x is denied", g.file, k)
			}
		}
		if f.Shape() != g.shape || f.Len() != again.Len() || f.CleanRegions() != again.CleanRegions() {
			t.Errorf("%s: %+v with %d keys, want %+v with %d", g.file, f.Shape(), f.Len(), g.shape, again.Len())
		}
		if got := stored(t, again); !bytes.Equal(got, want) {
			t.Errorf("%s: the same keys now give other bytes", g.file)
		}
	}
}

func stored(t *testing.T, f *deletable.Filter) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := f.Snapshot().WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImageIsTheSnapshotWithoutTheCopy(t *testing.T) {
	f, _ := golden(t, goldens[1].shape)
	var b bytes.Buffer
	f.Image().WriteTo(&b)
	if !bytes.Equal(b.Bytes(), stored(t, f)) {
		t.Error("Image and Snapshot differ")
	}
}

// TestOwnFilesAreAlwaysRead is about filters whose owner broke the rules and
// deleted keys that were never added: more keys than bits must not be written.
func TestOwnFilesAreAlwaysRead(t *testing.T) {
	f := build(t, deletable.Shape{Bits: 64, Hashes: 2, Regions: 32})
	for i, k := range filtertest.Keys(1, 2000) {
		if i%8 == 0 {
			f.Add(k)
		}
		f.Delete(k)
		if _, err := deletable.Read(bytes.NewReader(stored(t, f))); err != nil {
			t.Fatalf("after %d keys: %v", i, err)
		}
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// forge returns a file whose checksums are right and whose content is not.
func forge(t *testing.T, kind frame.Kind, shape any, sum frame.Summary, words ...uint64) []byte {
	t.Helper()
	image := &frame.Image{
		Header:  frame.Header{Kind: kind, Version: 1, Shape: frame.ShapeOf(shape), Summary: sum, Payload: 8 * uint64(len(words))},
		Payload: func(w io.Writer) error { return frame.WriteWords(w, words) },
	}
	var b bytes.Buffer
	if _, err := image.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestForgedFilesAreRefused(t *testing.T) {
	type shape = deletable.Shape
	good := shape{Bits: 70, Hashes: 2, Regions: 10} // 60 cells in 10 regions of 6
	full := frame.Summary{FastBits: 128}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"no bits":              {forge(t, frame.Deletable, shape{Hashes: 1}, frame.Summary{}), "Bits: 0"},
		"too many hashes":      {forge(t, frame.Deletable, shape{Bits: 70, Hashes: 65, Regions: 10}, full, 0, 0), "Hashes: 65"},
		"no regions":           {forge(t, frame.Deletable, shape{Bits: 70, Hashes: 2}, full, 0, 0), "Regions: 0"},
		"more marks than bits": {forge(t, frame.Deletable, shape{Bits: 70, Hashes: 2, Regions: 36}, full, 0, 0), "Regions: 36, must be 1 to 35"},
		"marks beyond all":     {forge(t, frame.Deletable, shape{Bits: 70, Hashes: 2, Regions: 1 << 63}, full, 0, 0), "Regions: 9223372036854775808"},
		"huge claim":           {forge(t, frame.Deletable, shape{Bits: 1 << 49, Hashes: 1, Regions: 1}, full, 0, 0), "payload: 16 bytes"},
		"too few words":        {forge(t, frame.Deletable, good, full, 0), "payload: 8 bytes, want 16"},
		"too many words":       {forge(t, frame.Deletable, good, full, 0, 0, 0), "payload: 24 bytes, want 16"},
		"cells beyond m":       {forge(t, frame.Deletable, good, frame.Summary{FastBits: 128, SetBits: 1}, 0, 1<<60), "cells beyond 60 are set"},
		"marks beyond r":       {forge(t, frame.Deletable, good, full, 1<<10, 0), "marks beyond 10 are set"},
		"marks of no region":   {forge(t, frame.Deletable, shape{Bits: 100, Hashes: 2, Regions: 35}, frame.Summary{FastBits: 192}, 1<<33, 0, 0), "marks beyond 33 are set"},
		"wrong count":          {forge(t, frame.Deletable, good, frame.Summary{FastBits: 128, SetBits: 2}, 0, 1), "2 bits set of 128 and 0 slow ones, found 1 of 128"},
		"too many keys":        {forge(t, frame.Deletable, good, frame.Summary{FastBits: 128, SetBits: 1, Keys: 2}, 0, 1), "2 keys"},
		"slow bits":            {forge(t, frame.Deletable, good, frame.Summary{FastBits: 128, SlowBits: 1}, 0, 0), "summary"},
		"the wrong fields":     {forge(t, frame.Deletable, struct{ Bits, Regions uint64 }{70, 10}, full, 0, 0), "hashes"},
	} {
		f, err := deletable.Read(bytes.NewReader(c.file))
		if !errors.Is(err, filter.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, want %q", name, f, err, c.want)
		}
	}
}

func TestKindsAreNotMistaken(t *testing.T) {
	file := forge(t, frame.Counting, fig1, frame.Summary{FastBits: 128}, 0, 0)
	if _, err := deletable.Read(bytes.NewReader(file)); !errors.Is(err, frame.ErrKind) {
		t.Errorf("a counting file as deletable: %v", err)
	}
}

// FuzzRead requires that whatever is accepted is a filter: it can be stored, read
// again with the same result, and used.
func FuzzRead(f *testing.F) {
	for _, g := range goldens {
		b, err := os.ReadFile(filepath.Join("testdata", g.file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := deletable.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		wantWhole(t, got)
		first := stored(t, got)
		again, err := deletable.Read(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("accepted %x, wrote %x, refused that: %v", b, first, err)
		}
		if second := stored(t, again); !bytes.Equal(first, second) {
			t.Errorf("wrote %x, then %x", first, second)
		}
	})
}

// wantWhole uses a filter that came from elsewhere.
func wantWhole(t *testing.T, f *deletable.Filter) {
	t.Helper()
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	f.Info()
	f.Add(1)
	if !f.MayContain(1) {
		t.Error("a filter that was read forgets")
	}
	f.Delete(1)
	if err := f.Check(); err != nil {
		t.Error(err)
	}
}
