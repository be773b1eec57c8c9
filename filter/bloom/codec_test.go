package bloom_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// goldens are files of format version 1. They are never written again: every
// release must read them and give these answers.
var goldens = []struct {
	file  string
	read  func(io.Reader) (filter.Filter, error)
	build func() (filter.Filter, error)
}{
	{"bloom-v1.golden", classic.Read, func() (filter.Filter, error) {
		return bloom.Build(bloom.Shape{Bits: 1000, Hashes: 7, Salt: 3})
	}},
	{"blocked-v1.golden", blocked.Read, func() (filter.Filter, error) {
		return bloom.BuildBlocked(bloom.BlockedShape{Blocks: 2, Hashes: 8})
	}},
	{"blocked16-v1.golden", blocked.Read, func() (filter.Filter, error) {
		return bloom.BuildBlocked(bloom.BlockedShape{Blocks: 3, Hashes: 16, Salt: 5})
	}},
}

// goldenKeys are hashed with XXH3, so the files hold the hash to account, too.
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
		f, err := g.read(bytes.NewReader(want))
		if err != nil {
			t.Fatalf("%s: %v", g.file, err)
		}
		for _, k := range goldenKeys() {
			if !f.MayContain(k) {
				t.Errorf("%s: %#x is denied", g.file, k)
			}
		}
		again, err := g.build()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range goldenKeys() {
			again.Add(k)
		}
		if got := stored(t, again); !bytes.Equal(got, want) {
			t.Errorf("%s: the same keys now give other bytes", g.file)
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
	f, err := bloom.NewBlocked(bloom.Config{Items: 1000})
	if err != nil {
		t.Fatal(err)
	}
	c, err := bloom.New(bloom.Config{Items: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range filtertest.Keys(1, 500) {
		f.Add(k)
		c.Add(k)
	}
	var one, other bytes.Buffer
	f.Image().WriteTo(&one)
	c.Image().WriteTo(&other)
	if !bytes.Equal(one.Bytes(), stored(t, f)) || !bytes.Equal(other.Bytes(), stored(t, c)) {
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
	eight := make([]uint64, 8)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"no bits":          {forge(t, frame.Bloom, bloom.Shape{Hashes: 1}, frame.Summary{}), "Bits: 0"},
		"too many hashes":  {forge(t, frame.Bloom, bloom.Shape{Bits: 64, Hashes: 99}, frame.Summary{FastBits: 64}, 0), "Hashes: 99"},
		"huge claim":       {forge(t, frame.Bloom, bloom.Shape{Bits: 1 << 49, Hashes: 1}, frame.Summary{FastBits: 64}, 0), "payload: 8 bytes, want 70368744177664"},
		"bits beyond m":    {forge(t, frame.Bloom, bloom.Shape{Bits: 60, Hashes: 1}, frame.Summary{SetBits: 1, FastBits: 64}, 1<<60), "bits beyond 60 are set"},
		"wrong count":      {forge(t, frame.Bloom, bloom.Shape{Bits: 64, Hashes: 1}, frame.Summary{SetBits: 2, FastBits: 64}, 1), "2 bits set of 64, found 1 of 64"},
		"slow bits":        {forge(t, frame.Bloom, bloom.Shape{Bits: 64, Hashes: 1}, frame.Summary{FastBits: 64, SlowBits: 1}, 0), "summary"},
		"odd hashes":       {forge(t, frame.Blocked, bloom.BlockedShape{Blocks: 1, Hashes: 9}, frame.Summary{FastBits: 512}, eight...), "Hashes: 9"},
		"too few words":    {forge(t, frame.Blocked, bloom.BlockedShape{Blocks: 1, Hashes: 8}, frame.Summary{FastBits: 512}, 0), "payload: 8 bytes, want 64"},
		"too many words":   {forge(t, frame.Bloom, bloom.Shape{Bits: 64, Hashes: 1}, frame.Summary{FastBits: 64}, 0, 0), "payload: 16 bytes, want 8"},
		"the wrong fields": {forge(t, frame.Blocked, bloom.Shape{Bits: 64, Hashes: 8}, frame.Summary{FastBits: 64}, 0), "blocks"},
	} {
		read := classic.Read
		if bytes.Contains(c.file[:12], []byte{byte(frame.Blocked), 0}) {
			read = blocked.Read
		}
		f, err := read(bytes.NewReader(c.file))
		if !errors.Is(err, filter.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, want %q", name, f, err, c.want)
		}
	}
}

func TestKindsAreNotMistaken(t *testing.T) {
	file := forge(t, frame.Blocked, bloom.BlockedShape{Blocks: 1, Hashes: 8}, frame.Summary{FastBits: 512}, make([]uint64, 8)...)
	if _, err := bloom.Read(bytes.NewReader(file)); !errors.Is(err, frame.ErrKind) {
		t.Errorf("a blocked file as bloom: %v", err)
	}
}

func FuzzRead(f *testing.F)        { fuzzRead(f, classic) }
func FuzzReadBlocked(f *testing.F) { fuzzRead(f, blocked) }

// fuzzRead requires that whatever is accepted is a filter: it can be stored, read
// again with the same result, and used.
func fuzzRead(f *testing.F, s filtertest.Subject) {
	f.Helper()
	for _, g := range goldens {
		b, err := os.ReadFile(filepath.Join("testdata", g.file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := s.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		first := stored(t, got)
		again, err := s.Read(bytes.NewReader(first))
		if err != nil {
			t.Fatalf("accepted %x, wrote %x, refused that: %v", b, first, err)
		}
		if second := stored(t, again); !bytes.Equal(first, second) {
			t.Errorf("wrote %x, then %x", first, second)
		}
		got.Add(1)
		if !got.MayContain(1) {
			t.Error("a filter that was read forgets")
		}
	})
}
