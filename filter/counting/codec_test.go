package counting_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// goldens are files of format version 1. They are never written again: every
// release must read them and give these answers.
var goldens = []struct {
	file  string
	shape counting.Shape
}{
	{"counting-v1.golden", counting.Shape{Counters: 1000, Hashes: 7, CounterBits: 4, Salt: 3}},
	{"counting2-v1.golden", counting.Shape{Counters: 101, Hashes: 3, CounterBits: 2}},
	{"counting8-v1.golden", counting.Shape{Counters: 200, Hashes: 4, CounterBits: 8, Salt: 5}},
}

// goldenKeys are hashed with XXH3, so the files hold the hash to account, too. One
// word comes twice.
func goldenKeys() []filter.Key {
	var keys []filter.Key
	var hash filter.Hash
	for word := range strings.FieldsSeq("the quick brown fox jumps over a lazy dog in the field of hay and rye") {
		keys = append(keys, hash.String(word))
	}
	return keys
}

func TestGoldenFilesAreReadForever(t *testing.T) {
	for _, g := range goldens {
		want, err := os.ReadFile(filepath.Join("testdata", g.file))
		if err != nil {
			t.Fatal(err)
		}
		f, err := counting.Read(bytes.NewReader(want))
		if err != nil {
			t.Fatalf("%s: %v", g.file, err)
		}
		if f.Len() != 16 || !f.Info().Exact || f.Shape() != g.shape {
			t.Errorf("%s: %+v of shape %+v", g.file, f.Info(), f.Shape())
		}
		again := build(t, g.shape)
		again.AddBatch(goldenKeys())
		if !bytes.Equal(stored(t, again), want) {
			t.Errorf("%s: the same keys now give other bytes", g.file)
		}
		for _, k := range goldenKeys() {
			remove(t, f, k)
		}
		if err := f.Check(); err != nil || f.Len() != 0 {
			t.Errorf("%s: %d keys are left after all were deleted: %v", g.file, f.Len(), err)
		}
	}
}

func stored(t *testing.T, f filter.Filter) []byte {
	t.Helper()
	image, err := filter.Snapshot(f)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := image.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImageIsTheSnapshotWithoutTheCopy(t *testing.T) {
	f := build(t, counting.Shape{Counters: 10_000, Hashes: 7, CounterBits: 4})
	f.AddBatch(filtertest.Keys(1, 500))
	var b bytes.Buffer
	if _, err := f.Image().WriteTo(&b); err != nil || !bytes.Equal(b.Bytes(), stored(t, f)) {
		t.Errorf("Image and Snapshot differ: %v", err)
	}
}

// TestIntersectionIsStored checks that a file says that nobody counted.
func TestIntersectionIsStored(t *testing.T) {
	s := counting.Shape{Counters: 1000, Hashes: 7, CounterBits: 4}
	keys := filtertest.Keys(1, 60)
	f, other := build(t, s), build(t, s)
	f.AddBatch(keys[:40])
	other.AddBatch(keys[20:])
	if err := f.Intersect(other); err != nil {
		t.Fatal(err)
	}
	g, err := counting.Read(bytes.NewReader(stored(t, f)))
	if err != nil || g.Info().Exact || g.Len() != f.Len() {
		t.Fatalf("%v, got %+v, want %+v", err, g.Info(), f.Info())
	}
	for _, k := range keys[20:40] {
		remove(t, g, k)
	}
}

// forge returns a file whose checksums are right and whose content is not.
func forge(t *testing.T, shape any, sum frame.Summary, words ...uint64) []byte {
	t.Helper()
	image := &frame.Image{
		Header: frame.Header{
			Kind: frame.Counting, Version: 1, Shape: frame.ShapeOf(shape), Summary: sum, Payload: 8 * uint64(len(words)),
		},
		Payload: func(w io.Writer) error { return frame.WriteWords(w, words) },
	}
	var b bytes.Buffer
	if _, err := image.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestForgedFilesAreRefused(t *testing.T) {
	const unknown = math.MaxUint64
	type sum = frame.Summary
	one := counting.Shape{Counters: 16, Hashes: 1, CounterBits: 4} // one word
	half := counting.Shape{Counters: 8, Hashes: 1, CounterBits: 4} // half a word
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"no counters":      {forge(t, counting.Shape{Hashes: 1, CounterBits: 4}, sum{}, 0), "Counters: 0"},
		"no hashes":        {forge(t, counting.Shape{Counters: 16, CounterBits: 4}, sum{FastBits: 64}, 0, 0), "Hashes: 0"},
		"too many hashes":  {forge(t, counting.Shape{Counters: 16, Hashes: 65, CounterBits: 4}, sum{FastBits: 64}, 0, 0), "Hashes: 65"},
		"odd width":        {forge(t, counting.Shape{Counters: 16, Hashes: 1, CounterBits: 3}, sum{FastBits: 64}, 0, 0), "CounterBits: 3"},
		"huge claim":       {forge(t, counting.Shape{Counters: 1 << 49, Hashes: 1, CounterBits: 8}, sum{FastBits: 64}, 0, 0), "payload: 16 bytes, want 562949953421320"},
		"beyond the last":  {forge(t, half, sum{Keys: 1, SetBits: 1, FastBits: 64}, 1, 1<<32), "bits beyond counter 8 are set"},
		"wrong count":      {forge(t, one, sum{Keys: 1, SetBits: 2, FastBits: 64}, 1, 1), "found {Keys:1 Capacity:0 SetBits:1"},
		"wrong size":       {forge(t, one, sum{Keys: 1, SetBits: 1, FastBits: 128}, 1, 1), "found {Keys:1 Capacity:0 SetBits:1 FastBits:64"},
		"slow bits":        {forge(t, one, sum{FastBits: 64, SlowBits: 1}, 0, 0), "summary"},
		"keys in summary":  {forge(t, one, sum{Keys: 2, SetBits: 1, FastBits: 64}, 1, 1), "summary: {Keys:2"},
		"too many keys":    {forge(t, one, sum{Keys: 3, SetBits: 1, FastBits: 64}, 3, 1), "the sum of all counters is 1, want 1 hashes for each of 3 keys"},
		"too few keys":     {forge(t, one, sum{SetBits: 1, FastBits: 64}, 0, 1), "the sum of all counters is 1"},
		"more than fits":   {forge(t, one, sum{Keys: 1 << 63, SetBits: 1, FastBits: 64}, 1<<63, 15), "9223372036854775808 keys, at most"},
		"wrong estimate":   {forge(t, one, sum{Keys: 5, SetBits: 1, FastBits: 64}, unknown, 1), "summary: {Keys:5"},
		"too few words":    {forge(t, one, sum{FastBits: 64}, 0), "payload: 8 bytes, want 16"},
		"too many words":   {forge(t, one, sum{FastBits: 64}, 0, 0, 0), "payload: 24 bytes, want 16"},
		"the wrong fields": {forge(t, struct{ Bits, Hashes, Salt uint64 }{16, 1, 0}, sum{FastBits: 64}, 0, 0), "counters"},
	} {
		f, err := counting.Read(bytes.NewReader(c.file))
		if !errors.Is(err, filter.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, want %q", name, f, err, c.want)
		}
	}
}

// TestStrangeButPossibleFilesAreRead has what follows from no rule: once a counter
// is saturated, the number of keys can be anything.
func TestStrangeButPossibleFilesAreRead(t *testing.T) {
	one := counting.Shape{Counters: 16, Hashes: 1, CounterBits: 4}
	for _, keys := range []uint64{0, 1, 15, 1 << 62} {
		file := forge(t, one, frame.Summary{Keys: keys, SetBits: 2, FastBits: 64}, keys, 0x1f)
		f, err := counting.Read(bytes.NewReader(file))
		if err != nil {
			t.Fatalf("%d keys: %v", keys, err)
		}
		if f.Len() != keys || f.Saturated() != 1 {
			t.Errorf("%d keys: %+v", keys, f.Info())
		}
		f.Add(1)
		if g, err := counting.Read(bytes.NewReader(stored(t, f))); err != nil || g.Len() != f.Len() {
			t.Errorf("%d keys and one more cannot be stored and read: %v", keys, err)
		}
	}
}

func TestKindsAreNotMistaken(t *testing.T) {
	plain := stored(t, plainOf(t, tiny, nil))
	if _, err := counting.Read(bytes.NewReader(plain)); !errors.Is(err, frame.ErrKind) {
		t.Errorf("a bloom file as counting: %v", err)
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
		got, err := counting.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		if err := got.Check(); err != nil {
			t.Fatalf("accepted %x: %v", b, err)
		}
		first := stored(t, got)
		again, err := counting.Read(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("accepted %x, wrote %x, refused that: %v", b, first, err)
		}
		if second := stored(t, again); !bytes.Equal(first, second) {
			t.Errorf("wrote %x, then %x", first, second)
		}
		got.Add(1)
		if !got.MayContain(1) || got.Delete(1) != nil {
			t.Error("a filter that was read forgets")
		}
	})
}
