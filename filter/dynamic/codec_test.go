package dynamic_test

import (
	"bytes"
	"math"
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

var (
	codec = filtertest.Codec[*dynamic.Filter]{
		Kind: frame.Dynamic, Read: dynamic.Read, Files: os.DirFS("testdata/dynamic"),
	}
	parallelCodec = filtertest.Codec[*dynamic.Parallel]{
		Kind: frame.Parallel, Read: dynamic.ReadParallel, Files: os.DirFS("testdata/parallel"),
	}
)

// goldenKeys has one word twice.
func goldenKeys() []filter.Key {
	return filtertest.KeysOf("the quick brown fox jumps over a lazy dog in the field of hay and rye")
}

// TestGoldenFilesAreReadForever has files of format version 1. They are never
// written again: every release must read them and give these answers.
func TestGoldenFilesAreReadForever(t *testing.T) {
	for name, shape := range map[string]dynamic.Shape{
		"counting-v1.golden": {Positions: 101, Hashes: 5, CounterBits: 4, Full: 30, Salt: 3},
		"two-v1.golden":      {Positions: 64, Hashes: 3, CounterBits: 2, Full: 20},
		"plain-v1.golden":    {Positions: 101, Hashes: 5, CounterBits: 1, Full: 30},
	} {
		made := filtertest.Make(t, dynamic.Build, shape)
		add(t, made, goldenKeys()...)
		f := codec.ReadsGolden(t, name, made, goldenKeys())
		if f.Units() < 2 || f.Shape() != shape {
			t.Errorf("%s: %d units of shape %+v", name, f.Units(), f.Shape())
		}
	}
}

func TestParallelGoldenFilesAreReadForever(t *testing.T) {
	shape := dynamic.ParallelShape{Partitions: 3, Shape: dynamic.Shape{Positions: 64, Hashes: 3, CounterBits: 4, Full: 12, Salt: 7}}
	made := filtertest.Make(t, dynamic.BuildParallel, shape)
	add(t, made, goldenKeys()...)
	f := parallelCodec.ReadsGolden(t, "parallel-v1.golden", made, goldenKeys())
	if f.Len() != 16 || f.Shape() != shape {
		t.Errorf("%d keys in shape %+v", f.Len(), f.Shape())
	}
}

func TestForgedFilesAreRefused(t *testing.T) {
	type (
		shape = dynamic.Shape
		sum   = frame.Summary
	)
	one := shape{Positions: 16, Hashes: 1, CounterBits: 4, Full: 2} // one word
	bits := shape{Positions: 60, Hashes: 1, CounterBits: 1, Full: 2}
	with := func(s shape, change func(*shape)) shape {
		change(&s)
		return s
	}
	good := sum{Keys: 1, SetBits: 1, FastBits: 64}
	if _, err := dynamic.Read(bytes.NewReader(codec.Forge(t, one, good, 1, 1, 1))); err != nil {
		t.Fatalf("one key in one unit: %v", err)
	}
	for _, c := range []struct {
		what, want string
		shape      shape
		sum        sum
		words      []uint64
	}{
		{"huge claim", "list 0: units: 1, want 1 to 0", with(one, func(s *shape) { s.Positions, s.Full = 1<<46, 1<<45 }), good, []uint64{1, 1, 1}},
		{"nothing", "payload: bytes: 0", one, sum{}, nil},
		{"no units", "list 0: units: 0", one, sum{}, []uint64{0}},
		{"fewer units", "list 0: units: 2, want 1 to 1", one, good, []uint64{2, 1, 1}},
		{"more units", "bytes: 32, want 16 for each of 1 units", one, good, []uint64{1, 1, 1, 1, 1}},
		{"absurd units", "list 0: units: 18446744073709551615", one, good, []uint64{math.MaxUint64, 1, 1}},
		{"a word more", "bytes: 24, want 16", one, good, []uint64{1, 1, 1, 0}},
		{"wrong keys", "the sum of all counters is 1", one, sum{Keys: 2, SetBits: 1, FastBits: 64}, []uint64{1, 2, 1}},
		{"too full", "unit 0 has 3 positions set, at most 2", one, sum{Keys: 3, SetBits: 3, FastBits: 64}, []uint64{1, 3, 0x111}},
		{"empty before the last", "unit 0 of 2 has no keys", one, sum{Keys: 1, SetBits: 1, FastBits: 128}, []uint64{2, 0, 0, 1, 1}},
		{"stuck without keys", "unit 0 of 1 has no keys and 1 positions set", one, sum{SetBits: 1, FastBits: 64}, []uint64{1, 0, 15}},
		{"keys of plain units", "a plain unit counts 1 keys", bits, good, []uint64{1, 1, 1}},
		{"beyond plain units", "bits beyond 60", bits, good, []uint64{1, 0, 1 << 63}},
	} {
		codec.Refuses(t, c.what, c.want, c.shape, c.sum, c.words...)
	}
}

func TestForgedParallelFilesAreRefused(t *testing.T) {
	s := dynamic.ParallelShape{Partitions: 2, Shape: dynamic.Shape{Positions: 16, Hashes: 1, CounterBits: 4, Full: 2}}
	sum := frame.Summary{Keys: 2, SetBits: 2, FastBits: 128}
	if _, err := dynamic.ReadParallel(bytes.NewReader(parallelCodec.Forge(t, s, sum, 1, 1, 1, 1, 1, 1))); err != nil {
		t.Fatalf("a key in each list: %v", err)
	}
	parallelCodec.Refuses(t, "an empty list", "list 1: units: 0", s, sum, 2, 0, 1, 1, 1, 1)
	parallelCodec.Refuses(t, "a list too many", "list 1: units: 2, want 1 to 1", s, sum, 1, 2, 1, 1, 1, 1)
	parallelCodec.Refuses(t, "one count", "payload: bytes: 8, want at least 16 for 2 lists", s, sum, 1)
	parallelCodec.Refuses(t, "too full", "list 1: dynamic: unit 0 has 3", s, sum, 1, 1, 1, 1, 3, 0x111)
	s.Partitions = 5000
	parallelCodec.Refuses(t, "too many lists", "Partitions: 5000", s, sum, 1, 1, 1, 1, 1, 1)
}

func FuzzRead(f *testing.F)         { codec.FuzzRead(f) }
func FuzzReadParallel(f *testing.F) { parallelCodec.FuzzRead(f) }
