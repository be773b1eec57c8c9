package everbloom

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// wantOnly checks which files are in a folder: no temporary one among them.
func wantOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("the folder has %q, want %q", got, names)
	}
}

func wantContent(t *testing.T, path string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s has changed: %d bytes, want %d: %v", path, len(got), len(want), err)
	}
}

func TestSetsSurviveAFile(t *testing.T) {
	effort.OneGoroutine(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "set")
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			for i, hash := range hashes {
				for _, shards := range shardCounts[i%2:] { // 1 with every second hash
					s := filled(t, Needs{Kind: kind, Items: 300, FPR: 0.01, Shards: shards, Hash: hash}, 0, 300)
					if err := s.Save(path); err != nil {
						t.Fatal(err)
					}
					wantContent(t, path, stored(t, s)) // Save writes what WriteTo writes
					got, err := Open(path)
					if err != nil {
						t.Fatal(err)
					}
					wantEqual(t, got, s)
					wantOnly(t, dir, "set")
				}
			}
		})
	}
}

// wantEqual checks that got is the set that was written, and goes on as one.
func wantEqual(t *testing.T, got, want *Set) {
	t.Helper()
	if got.Hash() != want.Hash() || fmt.Sprint(got.Info()) != fmt.Sprint(want.Info()) {
		t.Errorf("read %+v\nwrote %+v", got.Info(), want.Info())
	}
	if !bytes.Equal(stored(t, got), stored(t, want)) {
		t.Error("what was read is written in other bytes")
	}
	wantWords(t, got, 0, 300)
	if a, b := countWords(got, 300, 1000), countWords(want, 300, 1000); a != b {
		t.Errorf("%d absent words are found, %d before", a, b)
	}
	addWords(t, got, 300, 310)
	wantWords(t, got, 0, 310)
	if err := got.Union(want); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a set cannot be merged with its own copy: %v", err)
	}
}

// TestFailureLeavesTheOldFile fails in the middle, beyond all buffers.
func TestFailureLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "set")
	old := filled(t, Needs{Items: 100}, 0, 100)
	if err := old.Save(path); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the heap is on fire")
	good := filled(t, Needs{Items: 10}, 0, 10).shards[0].filter
	for _, filters := range [][]filter.Filter{
		{broken{cause: cause}},
		{good, broken{cause: cause}}, // the first shard is written already
	} {
		err := newSet(filter.Hash{}, filters).Save(path)
		wantError(t, err, cause, path)
		wantContent(t, path, stored(t, old))
		wantOnly(t, dir, "set")

		missing := filepath.Join(dir, "new")
		wantError(t, newSet(filter.Hash{}, filters).Save(missing), cause)
		wantOnly(t, dir, "set")
	}
}

// TestSetsWithoutAFormatSaySo is about kinds that cannot be written, or have a
// format of their own, which has no place for the hash.
func TestSetsWithoutAFormatSaySo(t *testing.T) {
	dir := t.TempDir()
	exact := filtertest.NewExact(filtertest.ExactConfig{})
	for _, c := range []struct {
		filter filter.Filter
		target error
		words  []string
	}{
		{plain{exact}, errors.ErrUnsupported, []string{"kind exact cannot be written"}},
		{ownFormat{exact}, nil, []string{"ownFormat", "file format of its own"}},
	} {
		s := NewSet(c.filter, filter.Hash{})
		wantError(t, s.Save(filepath.Join(dir, "set")), c.target, c.words...)
		n, err := s.WriteTo(io.Discard)
		wantError(t, err, c.target, c.words...)
		if n != 0 {
			t.Errorf("%d bytes were written", n)
		}
	}
	wantOnly(t, dir)
}

// ownFormat is a kind that is stored without the common envelope.
type ownFormat struct{ filter.Filter }

func (ownFormat) Snapshot() io.WriterTo { return &bytes.Buffer{} }

func TestWriteErrorsAreReportedWithTheCount(t *testing.T) {
	s := filled(t, Needs{Items: 100, Shards: 3}, 0, 100)
	whole := stored(t, s)
	for limit := range whole {
		w := &shortWriter{left: limit}
		n, err := s.WriteTo(w)
		if !errors.Is(err, io.ErrClosedPipe) || n != int64(limit) || !bytes.Equal(w.got, whole[:limit]) {
			t.Fatalf("after %d bytes: %d reported, %v", limit, n, err)
		}
	}
}

// A shortWriter has room for some bytes.
type shortWriter struct {
	left int
	got  []byte
}

func (w *shortWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.got = append(w.got, p[:n]...)
	if w.left -= n; n < len(p) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

// TestWritingHoldsNoLock changes the set from within the writer, which is what a
// slow reader at the other end lets others do.
func TestWritingHoldsNoLock(t *testing.T) {
	s := filled(t, Needs{Items: 100}, 0, 50)
	before := stored(t, s)
	var out bytes.Buffer
	together(t, func() {
		_, err := s.WriteTo(writerFunc(func(p []byte) (int, error) {
			addWords(t, s, 50, 100)
			return out.Write(p)
		}))
		if err != nil {
			t.Error(err)
		}
	})
	if !bytes.Equal(out.Bytes(), before) {
		t.Error("what was added during the writing has been written")
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestImpossiblePathsAreErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, hash := range []filter.Hash{{}, filter.SipHash(secret)} {
		s := filled(t, Needs{Items: 10, Hash: hash}, 0, 10)
		wantError(t, s.Save(dir), nil, dir, "not a regular file")
		wantError(t, s.Save(filepath.Join(dir, "missing", "set")), fs.ErrNotExist, "missing")
		wantError(t, s.Save(filepath.Join(dir, "file", "set")), nil, "file")
		wantError(t, s.Save(""), nil, "everbloom: save")
	}
	wantOnly(t, dir, "file")
	wantContent(t, filepath.Join(dir, "file"), nil)

	for _, path := range []string{dir, filepath.Join(dir, "missing"), ""} {
		s, err := Open(path)
		wantError(t, err, nil, "everbloom: ", "open "+path)
		if s != nil {
			t.Errorf("%q: a set beside the error %v", path, err)
		}
	}
}
