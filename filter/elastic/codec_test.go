package elastic_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

var codec = filtertest.Codec[*elastic.Filter]{
	Kind: frame.Elastic, Read: elastic.Read, Check: (*elastic.Filter).Check, Files: os.DirFS("testdata"),
}

var goldenShapes = map[string]elastic.Shape{
	"paper-v1.golden": {Bits: 16, Hashes: 5, HashBits: 32, Slots: 8, Branches: 3, Growth: 12, Threshold: 0.2},
	"plain-v1.golden": {Bits: 64, Hashes: 4, HashBits: 40, Slots: 3, Branches: 1, Growth: 8, Threshold: 0.5, Salt: 5},
}

// golden returns a filter that has grown, by itself and on demand, and has unsplit trees.
func golden(t *testing.T, s elastic.Shape) (*elastic.Filter, []filter.Key) {
	t.Helper()
	f := filtertest.Make(t, elastic.Build, s)
	keys := filtertest.KeysOf("the quick brown fox jumps over the lazy dog in the field of the hay and the rye")
	if _, _, err := f.AddBatch(keys); err != nil {
		t.Fatal(err)
	}
	if err := f.Grow(); err != nil {
		t.Fatal(err)
	}
	return f, keys
}

// TestGoldenFilesAreReadForever has files of format version 1. They are never
// written again: every release must read them and give these answers.
func TestGoldenFilesAreReadForever(t *testing.T) {
	for name, shape := range goldenShapes {
		made, keys := golden(t, shape)
		made.FinishResize()
		f := codec.ReadsGolden(t, name, made, keys)
		if f.Len() != 14 || !f.Info().Exact || f.Bits() != made.Bits() {
			t.Errorf("%s: %+v", name, f.Info())
		}
		for _, k := range keys {
			_ = f.Delete(k)
		}
		if f.Len() != 0 || f.Info().Fill != 0 {
			t.Errorf("%s: all deleted: %+v", name, f.Info())
		}
	}
}

func TestForgedFilesAreRefused(t *testing.T) {
	type (
		shape = elastic.Shape
		sum   = frame.Summary
	)
	// Four buckets of one slot, no level 2, fingerprints of 4 bits: one bit of count
	// for each bucket, then what it has.
	s := shape{Bits: 4, Hashes: 1, HashBits: 6, Slots: 1, Branches: 1, Growth: 3, Threshold: 1}
	with := func(change func(*shape)) shape {
		s := s
		change(&s)
		return s
	}
	one := sum{Keys: 1, SetBits: 1, FastBits: 64, SlowBits: 64}
	const bucket1 = 1<<1 | 7<<2 // bucket 1 has 7, the others nothing
	if _, err := elastic.Read(bytes.NewReader(codec.Forge(t, s, one, 0, 0, 1, 1, 1, bucket1))); err != nil {
		t.Fatalf("one key: %v", err)
	}
	refuses := func(what, want string, s shape, in sum, words ...uint64) {
		t.Helper()
		codec.Refuses(t, what, want, s, in, words...)
	}
	refuses("endless doubling", "Threshold: 1e-09, at least 0.0155, which one key of 1 hashes in 64 bits", with(func(s *shape) { s.Threshold = 1e-9 }), one, 0, 0, 1, 1, 1, bucket1)
	refuses("no head", "payload: bytes: 16", s, one, 0, 0)
	refuses("too many doublings", "doublings: 4, want at most 3", s, one, 4, 0, 1, 1, 1, bucket1)
	refuses("high floor", "floor: 1", s, one, 0, 1, 1, 1, 1, bucket1)
	refuses("no flag", "counted: 2", s, one, 0, 0, 1, 2, 1, bucket1)
	refuses("endless fingerprints", "fingerprints: 18446744073709551615", s, one, 0, 0, 1, 1, ^uint64(0), bucket1)
	refuses("no keys", "keys: 0, want 1 to 1", s, one, 0, 0, 0, 1, 1, bucket1)
	refuses("too many keys", "keys: 2, want 1 to 1", s, one, 0, 0, 2, 1, 1, bucket1)
	refuses("too few keys", "keys: 1, want at least 2 for 2 fingerprints", s, one, 0, 0, 1, 1, 2, bucket1)
	refuses("uncounted nothing", "keys: 0, want 1 to 0", s, one, 0, 0, 0, 0, 0, 0)
	refuses("huge claim", "payload: bytes: 8, want", with(func(s *shape) { s.Bits, s.HashBits = 1<<40, 50 }), one, 0, 0, 1, 1, 1, bucket1)
	refuses("more than said", "fingerprints: 1, want more", s, one, 0, 0, 1, 1, 1, bucket1|1<<6)
	refuses("fewer than said", "fingerprints: 1, want 0", s, one, 0, 0, 1, 1, 1, 0)
	refuses("bits behind", "bits behind the last bucket", s, one, 0, 0, 1, 1, 1, bucket1|1<<60)
	refuses("wrong set bits", "summary", s, sum{Keys: 1, SetBits: 2, FastBits: 64, SlowBits: 64}, 0, 0, 1, 1, 1, bucket1)

	// Two slots and no level 2: counts of 2 bits.
	two := with(func(s *shape) { s.Slots = 2 })
	both := sum{Keys: 2, SetBits: 1, FastBits: 64, SlowBits: 64}
	refuses("not sorted", "fingerprint: 0x3, want at least 0x7", two, both, 0, 0, 2, 1, 2, 2|7<<2|3<<6)
	refuses("overflow", "overflows", two, both, 0, 0, 3, 1, 3, 3|3<<2|5<<6|7<<10)
}

// TestFileHasFingerprintsNotSlots holds that empty slots are not stored.
func TestFileHasFingerprintsNotSlots(t *testing.T) {
	f := filtertest.Make(t, elastic.New, elastic.Config{Items: 10_000, FPR: 0.01})
	f.AddBatch(filtertest.Keys(1, 10_000))
	if file, slow := 8*len(filtertest.Stored(t, f)), int(f.Info().SlowBits); 4*file > slow {
		t.Errorf("%d bits in a file, %d in slow memory", file, slow)
	}
}

func FuzzRead(f *testing.F) { codec.FuzzRead(f) }
