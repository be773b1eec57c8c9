package dleft_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

var codec = filtertest.Codec[*dleft.Filter]{
	Kind: frame.DLeft, Read: dleft.Read, Check: (*dleft.Filter).Check, Files: os.DirFS("testdata"),
}

// golden returns a filter with keys, one of which is there more often than two
// bits count.
func golden(t *testing.T, s dleft.Shape) (*dleft.Filter, []filter.Key) {
	t.Helper()
	f := filtertest.Make(t, dleft.Build, s)
	keys := filtertest.KeysOf("the quick brown fox jumps over the lazy dog in the field of the hay and the rye")
	if _, _, err := f.AddBatch(keys); err != nil {
		t.Fatal(err)
	}
	return f, keys
}

// TestGoldenFilesAreReadForever has files of format version 1. They are never
// written again: every release must read them and give these answers.
func TestGoldenFilesAreReadForever(t *testing.T) {
	for name, shape := range map[string]dleft.Shape{
		"paper-v1.golden": {Subtables: 4, Buckets: 3, Cells: 8, Remainder: 14, Counter: 2},
		"odd-v1.golden":   {Subtables: 3, Buckets: 7, Cells: 5, Remainder: 17, Counter: 2, Salt: 5},
	} {
		made, keys := golden(t, shape)
		f := codec.ReadsGolden(t, name, made, keys)
		if f.Len() != 18 || f.Info().Exact {
			t.Errorf("%s: %+v", name, f.Info())
		}
		for _, k := range keys {
			if err := f.Delete(k); err != nil {
				t.Errorf("%s: delete %#x: %v", name, k, err)
			}
		}
	}
}

func TestForgedFilesAreRefused(t *testing.T) {
	type (
		shape = dleft.Shape
		sum   = frame.Summary
	)
	// Four cells of 16 bits in one bucket; the lower 14 are the remainder.
	s := shape{Subtables: 1, Buckets: 1, Cells: 4, Remainder: 14, Counter: 2}
	with := func(change func(*shape)) shape {
		s := s
		change(&s)
		return s
	}
	refuses := func(what, want string, s shape, in sum, words ...uint64) {
		t.Helper()
		if in.FastBits == 0 {
			in.FastBits = 64 * uint64(len(words))
		}
		codec.Refuses(t, what, want, s, in, words...)
	}
	one := sum{Keys: 1, SetBits: 1}
	if _, err := dleft.Read(bytes.NewReader(codec.Forge(t, s, sum{Keys: 1, SetBits: 1, FastBits: 64}, 0x0005))); err != nil {
		t.Fatalf("one key in one cell: %v", err)
	}
	refuses("huge claim", "payload: bytes: 8, want 8796093022208", with(func(s *shape) { s.Buckets = 1 << 40 }), one, 5)
	refuses("bits behind", "bits behind the last cell", with(func(s *shape) { s.Cells = 3 }), one, 5|1<<50)
	refuses("counter of none", "cell 1 is empty and counts 1", s, one, 5|1<<30)
	refuses("same in bucket", "cell 0 holds fingerprint 0x5, which is in 2 cells", s, sum{Keys: 2, SetBits: 2}, 5|5<<32)
	refuses("wrong cells", "want {Keys:1 Capacity:0 SetBits:1", s, sum{Keys: 1, SetBits: 2}, 5)
	refuses("too few keys", "keys: 1, want 2", s, sum{Keys: 1, SetBits: 1}, 5|1<<14)
	refuses("too many keys", "keys: 3, want 2", s, sum{Keys: 3, SetBits: 1}, 5|1<<14)
	refuses("fewer than exact", "want 2 with 1 stuck", s, sum{Keys: 1, SetBits: 2}, 5|1<<14|(3<<14|6)<<16)
	refuses("endless copies", "want 0 with 1 stuck", s, sum{Keys: 1<<62 + 1, SetBits: 1}, 5|3<<14)
}

func FuzzRead(f *testing.F) { codec.FuzzRead(f) }
