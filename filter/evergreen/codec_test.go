package evergreen_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

var codec = filtertest.Codec[*evergreen.Filter]{
	Kind: frame.Evergreen, Read: evergreen.Read, Check: (*evergreen.Filter).Check, Files: os.DirFS("testdata"),
}

// golden returns a filter that has grown a little, with keys, some of them there
// twice.
func golden(t *testing.T, s evergreen.Shape) (*evergreen.Filter, []filter.Key) {
	t.Helper()
	f := filtertest.Make(t, evergreen.Build, s)
	for range 3 {
		if err := f.Grow(); err != nil {
			t.Fatal(err)
		}
	}
	keys := filtertest.KeysOf("the quick brown fox jumps over the lazy dog in the field of the hay and the rye")
	if _, _, err := f.AddBatch(keys); err != nil {
		t.Fatal(err)
	}
	return f, keys
}

// TestGoldenFilesAreReadForever has files of format version 1. They are never
// written again: every release must read them and give these answers.
func TestGoldenFilesAreReadForever(t *testing.T) {
	for name, c := range map[string]struct {
		shape evergreen.Shape
		keys  uint64
	}{
		"full-v1.golden":    {evergreen.Shape{FPR: 0.001, Hashes: 8, Width: 56}, 14},
		"compact-v1.golden": {evergreen.Shape{FPR: 0.0001, Hashes: 16, Width: 32, Salt: 5}, 18},
	} {
		made, keys := golden(t, c.shape)
		f := codec.ReadsGolden(t, name, made, keys)
		if f.Len() != c.keys || f.Blocks() != 259 || f.Shape() != c.shape {
			t.Errorf("%s: %+v", name, f.Info())
		}
		filter.DeleteBatch(f, keys)
		if f.Len() != 0 || f.Blocks() != 259 {
			t.Errorf("%s: after deleting all keys: %+v", name, f.Info())
		}
	}
}

// blockOf returns where in a payload block i begins, for a file with the keys of
// golden.
func blockOf(payload []byte, width int, i uint64) []byte {
	at := payload[16:]
	for range i {
		at = at[2+width*int(binary.LittleEndian.Uint16(at)):]
	}
	return at
}

func TestForgedFilesAreRefused(t *testing.T) {
	s := evergreen.Shape{FPR: 0.01, Hashes: 8, Width: 56}
	f := filtertest.Make(t, evergreen.Build, s)
	f.Grow()
	f.AddBatch(filtertest.Keys(1, 3000))
	file := filtertest.Stored(t, f)
	refuses := func(what, want string, change func(h *frame.Header, payload []byte) []byte) {
		t.Helper()
		codec.RefusesFile(t, what, want, filtertest.Alter(t, file, change))
	}
	field := func(at int, value uint64) func(*frame.Header, []byte) []byte {
		return func(_ *frame.Header, payload []byte) []byte {
			binary.LittleEndian.PutUint64(payload[at:], value)
			return payload
		}
	}
	shape := func(change func(s *evergreen.Shape)) func(*frame.Header, []byte) []byte {
		return func(h *frame.Header, payload []byte) []byte {
			s := s
			change(&s)
			h.Shape = frame.ShapeOf(s)
			return payload
		}
	}
	refuses("no head", "payload", func(_ *frame.Header, p []byte) []byte { return p[:10] })
	refuses("too few blocks", "blocks: 255", field(0, 255))
	refuses("too many blocks", "blocks: 4294967296", field(0, 1<<32))
	refuses("more blocks than bytes", "blocks: 100000, want 256 to 10757", field(0, 100_000))
	refuses("no floor", "floor: 0", field(8, 0))
	refuses("high floor", "floor: 300", field(8, 300))
	refuses("other blocks", "one of this block", field(0, 258))
	refuses("wrong rate", "FPR: 3", shape(func(s *evergreen.Shape) { s.FPR = 3 }))
	refuses("wrong width", "Width: 48", shape(func(s *evergreen.Shape) { s.Width = 48 }))
	refuses("wrong hashes", "Hashes: 9", shape(func(s *evergreen.Shape) { s.Hashes = 9 }))
	refuses("other hashes", "summary", shape(func(s *evergreen.Shape) { s.Hashes = 16 }))
	refuses("wrong keys", "summary: {Keys:2999", func(h *frame.Header, p []byte) []byte { h.Summary.Keys--; return p })
	refuses("wrong bits", "summary", func(h *frame.Header, p []byte) []byte { h.Summary.SetBits++; return p })
	refuses("wrong slow bits", "summary", func(h *frame.Header, p []byte) []byte { h.Summary.SlowBits++; return p })
	refuses("a capacity", "Capacity:7", func(h *frame.Header, p []byte) []byte { h.Summary.Capacity = 7; return p })
	refuses("crowded block", "block 0: keys: 65535", func(_ *frame.Header, p []byte) []byte {
		binary.LittleEndian.PutUint16(p[16:], 65535)
		return p
	})
	refuses("not in order", "one above", func(_ *frame.Header, p []byte) []byte { return swap(blockOf(p, 7, 5), p, 0, 1) })
	refuses("twice", "one above", func(_ *frame.Header, p []byte) []byte { return swap(blockOf(p, 7, 5), p, 0, 0) })
	refuses("of another block", "one of this block", func(_ *frame.Header, p []byte) []byte {
		b := blockOf(p, 7, 0)
		last := 2 + 7*(int(binary.LittleEndian.Uint16(b))-1)
		b[last+6] = 0xFF // in block 0 of 257 the next bit of the address is clear
		return p
	})
	refuses("bytes behind", "payload", func(_ *frame.Header, p []byte) []byte { return append(p, 0) })
}

// swap exchanges two fingerprints of a block, or copies the first to the second if
// they are the same one.
func swap(block, payload []byte, i, j int) []byte {
	a, b := block[2+7*i:][:7], block[2+7*j:][:7]
	if i == j {
		b = block[2+7*(j+1):][:7]
		copy(b, a)
		return payload
	}
	for k := range a {
		a[k], b[k] = b[k], a[k]
	}
	return payload
}

// TestTooManyCompactKeysAreRefused reads a file with more keys than its width allows.
func TestTooManyCompactKeysAreRefused(t *testing.T) {
	f := filtertest.Make(t, evergreen.Build, evergreen.Shape{FPR: 0.01, Hashes: 8, Width: 16})
	f.AddBatch(filtertest.Keys(1, 3000))
	file := filtertest.Alter(t, filtertest.Stored(t, f), func(h *frame.Header, p []byte) []byte {
		h.Shape = frame.ShapeOf(evergreen.Shape{FPR: 0.001, Hashes: 8, Width: 16})
		return p
	})
	codec.RefusesFile(t, "too many keys", "keys: 3000, want at most 1677", file)
}

// TestStoredFormIsThatOfTheSet stores filters that came to the same keys in
// different ways.
func TestStoredFormIsThatOfTheSet(t *testing.T) {
	keys := filtertest.Keys(1, 4000)
	for _, width := range []int{56, 32} {
		c := evergreen.Config{FPR: 0.01, Width: width}
		a, b := of(t, c, keys[:2000]), of(t, c, keys[1000:], keys[:1000])
		filter.DeleteBatch(b, keys[2000:])
		if !bytes.Equal(filtertest.Stored(t, a), filtertest.Stored(t, b)) {
			t.Errorf("width %d: equal sets are stored differently", width)
		}
	}
}

// TestFloorsAreKept stores filters that were grown on demand.
func TestFloorsAreKept(t *testing.T) {
	effort.OneGoroutine(t)
	f := of(t, evergreen.Config{}, filtertest.Keys(1, 20_000))
	f.Grow()
	blocks := f.Blocks()
	g, err := evergreen.Read(bytes.NewReader(filtertest.Stored(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	filter.DeleteBatch(g, filtertest.Keys(1, 20_000))
	if g.Blocks() != blocks {
		t.Errorf("grown to %d blocks, stored, read and emptied it has %d", blocks, g.Blocks())
	}
}

func FuzzRead(f *testing.F) { codec.FuzzRead(f) }

// TestSlowFile has the slow memory in a file, in every way that there is.
func TestSlowFile(t *testing.T) {
	effort.OneGoroutine(t)
	evergreen.Inboxes(t)
	path := filepath.Join(t.TempDir(), "slow")
	c := evergreen.Config{FPR: 0.01, SlowFile: path}
	f := of(t, c, filtertest.Keys(1, 30_000))
	filter.DeleteBatch(f, filtertest.Keys(1, 10_000))
	wantExactly(t, "in a file", f, filtertest.Keys(1, 30_000)[10_000:])
	if info, err := os.Stat(path); err != nil || info.Size() < 20_000*7 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if _, err := evergreen.New(c); err == nil {
		t.Error("a second filter took the same file")
	}
	g, err := evergreen.ReadSlow(bytes.NewReader(filtertest.Stored(t, f)), path+"2")
	if err != nil {
		t.Fatal(err)
	}
	wantExactly(t, "read into a file", g, filtertest.Keys(1, 30_000)[10_000:])
	for _, f := range []*evergreen.Filter{f, g} {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if !f.MayContain(filtertest.Keys(1, 30_000)[20_000]) || f.Info().Keys != 20_000 || f.Close() != nil {
			t.Error("a closed filter misses a key, or does not know their number")
		}
	}
	if err := of(t, evergreen.Config{}).Close(); err != nil {
		t.Errorf("closing a filter in ordinary memory: %v", err)
	}
}

// TestBadSlowFileIsToldAtOnce reads what is no filter into a file.
func TestBadSlowFileIsToldAtOnce(t *testing.T) {
	for _, path := range []string{t.TempDir(), "/no/such/folder/slow"} {
		if _, err := evergreen.New(evergreen.Config{SlowFile: path}); err == nil {
			t.Errorf("%s is accepted", path)
		}
	}
	f := of(t, evergreen.Config{}, filtertest.Keys(1, 10))
	file := filtertest.Stored(t, f)
	if _, err := evergreen.ReadSlow(bytes.NewReader(file[:len(file)-9]), filepath.Join(t.TempDir(), "slow")); err == nil {
		t.Error("a file that is cut short is accepted")
	}
}
