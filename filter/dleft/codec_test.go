package dleft_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/filter/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// goldens are files of format version 1. They are never written again: every
// release must read them and give these answers.
var goldens = []struct {
	file  string
	shape dleft.Shape
}{
	{"paper-v1.golden", dleft.Shape{Subtables: 4, Buckets: 3, Cells: 8, Remainder: 14, Counter: 2}},
	{"odd-v1.golden", dleft.Shape{Subtables: 3, Buckets: 7, Cells: 5, Remainder: 17, Counter: 2, Salt: 5}},
}

// goldenKeys are hashed with XXH3, so the files hold the hash to account, too.
// One word is there more often than two bits count.
func goldenKeys() []filter.Key {
	var keys []filter.Key
	var hash filter.Hash
	for word := range strings.FieldsSeq("the quick brown fox jumps over the lazy dog in the field of the hay and the rye") {
		keys = append(keys, hash.String(word))
	}
	return keys
}

func goldenFilter(t *testing.T, s dleft.Shape) *dleft.Filter {
	t.Helper()
	f, err := dleft.Build(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range goldenKeys() {
		if _, err := f.Add(k); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestGoldenFilesAreReadForever(t *testing.T) {
	for _, g := range goldens {
		want, err := os.ReadFile(filepath.Join("testdata", g.file))
		if err != nil {
			t.Fatal(err)
		}
		f, err := dleft.Read(bytes.NewReader(want))
		if err != nil {
			t.Fatalf("%s: %v", g.file, err)
		}
		for _, k := range goldenKeys() {
			if !f.MayContain(k) {
				t.Errorf("%s: %#x is denied", g.file, k)
			}
		}
		if f.Len() != 18 || f.Info().Exact {
			t.Errorf("%s: %+v", g.file, f.Info())
		}
		if got := stored(t, goldenFilter(t, g.shape)); !bytes.Equal(got, want) {
			t.Errorf("%s: the same keys now give other bytes", g.file)
		}
		for _, k := range goldenKeys() {
			if err := f.Delete(k); err != nil {
				t.Errorf("%s: delete %#x: %v", g.file, k, err)
			}
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
	f, err := dleft.New(dleft.Config{Items: 1000})
	if err != nil {
		t.Fatal(err)
	}
	f.AddBatch(filtertest.Keys(1, 500))
	var b bytes.Buffer
	f.Image().WriteTo(&b)
	if !bytes.Equal(b.Bytes(), stored(t, f)) {
		t.Error("Image and Snapshot differ")
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
	// Four cells of 16 bits in one bucket; the lower 14 are the remainder.
	s := dleft.Shape{Subtables: 1, Buckets: 1, Cells: 4, Remainder: 14, Counter: 2}
	file := func(s dleft.Shape, sum frame.Summary, words ...uint64) []byte {
		if sum.FastBits == 0 {
			sum.FastBits = 64 * uint64(len(words))
		}
		return forge(t, frame.DLeft, s, sum, words...)
	}
	with := func(change func(*dleft.Shape)) dleft.Shape {
		s := s
		change(&s)
		return s
	}
	one := frame.Summary{Keys: 1, SetBits: 1}
	if _, err := dleft.Read(bytes.NewReader(file(s, one, 0x0005))); err != nil {
		t.Fatalf("one key in one cell: %v", err)
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"no buckets":       {file(with(func(s *dleft.Shape) { s.Buckets = 0 }), one, 5), "Buckets: 0"},
		"too many cells":   {file(with(func(s *dleft.Shape) { s.Cells = 99 }), one, 5), "Cells: 99"},
		"wide cells":       {file(with(func(s *dleft.Shape) { s.Counter = 30 }), one, 5), "44 bits together"},
		"huge claim":       {file(with(func(s *dleft.Shape) { s.Buckets = 1 << 40 }), one, 5), "payload: 8 bytes, want 8796093022208"},
		"too many words":   {file(s, one, 5, 0), "payload: 16 bytes, want 8"},
		"bits behind":      {file(with(func(s *dleft.Shape) { s.Cells = 3 }), one, 5|1<<50), "bits behind the last cell"},
		"counter of none":  {file(s, one, 5|1<<30), "cell 1 is empty and counts 1"},
		"same in bucket":   {file(s, frame.Summary{Keys: 2, SetBits: 2}, 5|5<<32), "cell 0 holds fingerprint 0x5, which is in 2 cells"},
		"wrong cells":      {file(s, frame.Summary{Keys: 1, SetBits: 2}, 5), "2 cells used in 64 bits, found 1 in 64"},
		"wrong bits":       {file(s, frame.Summary{Keys: 1, SetBits: 1, FastBits: 128}, 5), "1 cells used in 128 bits"},
		"slow bits":        {file(s, frame.Summary{Keys: 1, SetBits: 1, SlowBits: 1}, 5), "summary"},
		"too few keys":     {file(s, frame.Summary{Keys: 1, SetBits: 1}, 5|1<<14), "summary: 1 keys, found 2"},
		"too many keys":    {file(s, frame.Summary{Keys: 3, SetBits: 1}, 5|1<<14), "summary: 3 keys, found 2"},
		"fewer than exact": {file(s, frame.Summary{Keys: 1, SetBits: 2}, 5|1<<14|(3<<14|6)<<16), "found 2 and 1 stuck"},
		"endless copies":   {file(s, frame.Summary{Keys: 1<<62 + 1, SetBits: 1}, 5|3<<14), "found 0 and 1 stuck"},
		"the wrong fields": {forge(t, frame.DLeft, struct{ Bits uint64 }{64}, one, 5), "subtables"},
	} {
		f, err := dleft.Read(bytes.NewReader(c.file))
		if !errors.Is(err, filter.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, want %q", name, f, err, c.want)
		}
	}
}

func TestKindsAreNotMistaken(t *testing.T) {
	file := forge(t, frame.Counting, paperShape, frame.Summary{})
	if _, err := dleft.Read(bytes.NewReader(file)); !errors.Is(err, frame.ErrKind) {
		t.Errorf("a counting file as dleft: %v", err)
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
		got, err := dleft.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		first := stored(t, got)
		again, err := dleft.Read(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("accepted %x, wrote %x, refused that: %v", b, first, err)
		}
		if second := stored(t, again); !bytes.Equal(first, second) {
			t.Errorf("wrote %x, then %x", first, second)
		}
		if _, err := got.Add(1); err == nil && !got.MayContain(1) {
			t.Error("a filter that was read forgets")
		}
	})
}
