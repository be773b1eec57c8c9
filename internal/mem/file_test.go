package mem

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestFileBlocksAreAlignedExactAndZero(t *testing.T) {
	f := createFile(t, filepath.Join(t.TempDir(), "words"))
	var blocks [][]uint64
	for _, n := range []uint64{0, 1, 7, 8, 9, 100, mapUnit/8 - 8, mapUnit / 8, mapUnit/8 + 1, 40000} {
		words, err := f.Words(n)
		if err != nil {
			t.Fatal(err)
		}
		checkBlock(t, words, n)
		fill(words, n)
		blocks = append(blocks, words)
	}
	for _, words := range blocks {
		want := make([]uint64, len(words))
		fill(want, uint64(len(words)))
		if !slices.Equal(words, want) {
			t.Errorf("block of %d words was overwritten by another", len(words))
		}
	}
}

// TestTinyFileBlocksShareAGranule holds that small arrays do not cost a mapUnit per
// segment.
func TestTinyFileBlocksShareAGranule(t *testing.T) {
	f := createFile(t, filepath.Join(t.TempDir(), "words"))
	for range mapUnit / lineBytes {
		if _, err := f.Words(3); err != nil {
			t.Fatal(err)
		}
	}
	if f.end != 2*mapUnit {
		t.Errorf("%d tiny blocks take %d bytes, want %d", mapUnit/lineBytes, f.end, 2*mapUnit)
	}
}

// TestImpossibleFileSizesChangeNothing asks for more than addresses or any test
// machine's disk can hold.
func TestImpossibleFileSizesChangeNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	f := createFile(t, path)
	fill(take(t, f, 5000), 1)
	for _, n := range []uint64{1 << 63, 1 << 61, 1 << 47, 1 << 42} {
		_, err := f.Words(n)
		if err == nil {
			t.Fatalf("Words(%d) gives a block", n)
		}
		if !strings.HasPrefix(err.Error(), "mem: file "+path+": ") {
			t.Errorf("error %q does not name the file", err)
		}
		t.Log(err)
	}
	checkIntact(t, f, path)
}

// checkIntact holds that after failures the file has its one mapUnit, and still grows.
func checkIntact(t *testing.T, f *File, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Size() != 2*mapUnit || f.end != 2*mapUnit {
		t.Errorf("file has %d bytes, says %d, want %d: %v", info.Size(), f.end, 2*mapUnit, err)
	}
	checkBlock(t, take(t, f, 8), 8)
	checkBlock(t, take(t, f, 9000), 9000)
}

func TestFileServesManyGoroutines(t *testing.T) {
	f := createFile(t, filepath.Join(t.TempDir(), "words"))
	var tasks sync.WaitGroup
	for id := range uint64(4) {
		tasks.Go(func() {
			for n := uint64(1); n < 60; n++ {
				words, err := f.Words(n * 11)
				if err != nil || slices.Max(words) != 0 {
					t.Errorf("Words(%d): not zero, or %v", n*11, err)
					return
				}
				fill(words, id+1)
			}
		})
	}
	tasks.Wait()
}

func take(t *testing.T, f *File, n uint64) []uint64 {
	t.Helper()
	words, err := f.Words(n)
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// TestDiscardLeavesNothing has the working folder changed before.
func TestDiscardLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	f := createFile(t, "words")
	take(t, f, 100)
	path := filepath.Join(dir, "words")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	t.Chdir(t.TempDir())
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
	if _, err := f.Words(1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Words: %v", err)
	}
	if err := f.canGive(1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("canGive: %v", err)
	}
	if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Discard(); err != nil {
		t.Errorf("discarding it again: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("discarding it again took another file: %v", err)
	}
}

// TestDiscardTakesOnlyItsOwn has the file removed, and replaced.
func TestDiscardTakesOnlyItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	f := createFile(t, path)
	if err := errors.Join(os.Remove(path), f.Discard()); err != nil {
		t.Errorf("a file that is gone: %v", err)
	}
	f = createFile(t, path)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("another"), 0o600), f.Discard()); err != nil {
		t.Errorf("a file that was replaced: %v", err)
	}
	if data, err := os.ReadFile(path); string(data) != "another" {
		t.Errorf("the file in its place: %q, %v", data, err)
	}
}

// TestOnlyLeftFilesAreTakenOver has files that a process left at any moment, that are
// in use, and that are something else.
func TestOnlyLeftFilesAreTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	for _, content := range []string{"", mark[:20], mark, mark + strings.Repeat("x", 2*mapUnit)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f := createFile(t, path)
		if words := take(t, f, 100); slices.Max(words) != 0 {
			t.Errorf("a file that was taken over has old words: %v", words)
		}
		if _, err := CreateFile(path); !errors.Is(err, errInUse) || !strings.Contains(err.Error(), path) {
			t.Errorf("a file in use: %v", err)
		}
		if err := f.Discard(); err != nil {
			t.Error(err)
		}
	}
	for _, content := range []string{"precious", mark[:20] + "?"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := CreateFile(path)
		if data, _ := os.ReadFile(path); !errors.Is(err, errForeign) || string(data) != content {
			t.Errorf("%v, and the file has %q", err, data)
		}
	}
	for _, path := range []string{filepath.Dir(path), os.DevNull, filepath.Join(path, "none")} {
		if _, err := CreateFile(path); err == nil || !strings.HasPrefix(err.Error(), "mem: ") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func createFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := CreateFile(path)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Discard(); err != nil {
			t.Error(err)
		}
	})
	return f
}
