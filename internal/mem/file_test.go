package mem

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestFileBlocksAreAlignedExactAndZero(t *testing.T) {
	f := createFile(t, filepath.Join(t.TempDir(), "words"))
	var blocks [][]uint64
	for _, n := range []uint64{0, 1, 7, 8, 9, 100, granule/8 - 8, granule / 8, granule/8 + 1, 40000} {
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

// TestTinyFileBlocksShareAGranule holds that small arrays do not cost a granule per segment.
func TestTinyFileBlocksShareAGranule(t *testing.T) {
	f := createFile(t, filepath.Join(t.TempDir(), "words"))
	for range granule / lineBytes {
		if _, err := f.Words(3); err != nil {
			t.Fatal(err)
		}
	}
	if f.Size() != markBytes+granule {
		t.Errorf("%d tiny blocks take %d bytes, want %d", granule/lineBytes, f.Size(), markBytes+granule)
	}
}

func TestFileKeepsWordsOverClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	sizes := []uint64{10, 20000, 3, granule / 8, 500}
	f := createFile(t, path)
	for _, n := range sizes {
		fill(take(t, f, n), n)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	g := openFile(t, path)
	size := g.Size()
	for _, n := range sizes {
		want := make([]uint64, n)
		fill(want, n)
		if got := take(t, g, n); !slices.Equal(got, want) {
			t.Errorf("block of %d words lost its content", n)
		}
	}
	if g.Size() != size {
		t.Errorf("size %d became %d by asking for the same blocks", size, g.Size())
	}
	checkBlock(t, take(t, g, 9000), 9000)
	if g.Size() <= size {
		t.Errorf("size %d after growth from %d", g.Size(), size)
	}
}

// TestSyncedWordsAreInTheFile reads the file beside the mapping, which is what another process would see.
func TestSyncedWordsAreInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	f := createFile(t, path)
	fill(take(t, f, 16), 3)
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || int64(len(data)) != f.Size() {
		t.Fatalf("%d bytes, size %d, error %v", len(data), f.Size(), err)
	}
	for i := range uint64(16) {
		if got := binary.NativeEndian.Uint64(data[markBytes+i*8:]); got != 3<<16|i {
			t.Errorf("word %d is %#x", i, got)
		}
	}
}

func TestFileIsPrivateAndNeverOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	createFile(t, path)
	if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if _, err := CreateFile(path); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("creating it again: %v", err)
	}
}

// TestLeftFilesAreTakenOver has files that are in use, that were left, and that are something else.
func TestLeftFilesAreTakenOver(t *testing.T) {
	if !locks {
		t.Skip("files are not locked here")
	}
	path := filepath.Join(t.TempDir(), "words")
	f := createFile(t, path)
	fill(take(t, f, 100), 1)
	if _, err := CreateFile(path); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a file in use: %v", err)
	}
	if err := f.Close(); err != nil { // as the end of a process does
		t.Fatal(err)
	}
	g := createFile(t, path)
	if words := take(t, g, 100); slices.Max(words) != 0 {
		t.Errorf("a file that was taken over has old words: %v", words)
	}
	if err := g.Discard(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"foreign": "precious", "almost": mark[:20] + "?"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := CreateFile(path)
		if data, _ := os.ReadFile(path); !errors.Is(err, fs.ErrExist) || string(data) != content {
			t.Errorf("%s: %v, and the file has %q", name, err, data)
		}
	}
	for _, content := range []string{"", mark[:20], mark} { // whenever the process ended
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := createFile(t, path).Discard(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenRefusesWhatIsNotAFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenFile(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	if _, err := OpenFile(dir); err == nil {
		t.Error("a folder is accepted")
	}
	if _, err := OpenFile(os.DevNull); err == nil || !strings.HasPrefix(err.Error(), "mem: ") {
		t.Errorf("a device: %v", err)
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	f := createFile(t, path)
	take(t, f, 100)
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
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

// TestDiscardTakesOnlyItsOwn has the file removed, replaced, and the working folder changed before.
func TestDiscardTakesOnlyItsOwn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "words")
	if runtime.GOOS != "windows" { // which keeps open files where they are
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
	t.Chdir(dir)
	f := createFile(t, "relative")
	t.Chdir(t.TempDir())
	if err := f.Discard(); err != nil {
		t.Errorf("from another folder: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "relative")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}

func TestClosedFileRefuses(t *testing.T) {
	f := createFile(t, filepath.Join(t.TempDir(), "words"))
	take(t, f, 100)
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Words(1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Words: %v", err)
	}
	if err := f.Sync(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Sync: %v", err)
	}
}

// TestOddFilesAreCompleted opens files that a crash cut, or that have holes: their words stay, and what is missing is zero.
func TestOddFilesAreCompleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	old := append([]byte(mark), make([]byte, markBytes-len(mark))...)
	if err := os.WriteFile(path, append(old, 1, 0, 0, 0, 0, 0, 0, 0, 0xff), 0o600); err != nil {
		t.Fatal(err)
	}
	f := openFile(t, path)
	words := take(t, f, 1000)
	var bytes [16]byte
	binary.NativeEndian.PutUint64(bytes[:], words[0])
	binary.NativeEndian.PutUint64(bytes[8:], words[1])
	if bytes != [16]byte{0: 1, 8: 0xff} || slices.Max(words[2:]) != 0 {
		t.Errorf("words begin with %x", bytes)
	}
	if f.Size() != markBytes+granule {
		t.Errorf("size %d, want %d", f.Size(), markBytes+granule)
	}
}

// TestImpossibleFileSizesChangeNothing asks for more than addresses or any test machine's disk can hold.
func TestImpossibleFileSizesChangeNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	f := createFile(t, path)
	fill(take(t, f, 5000), 1)
	for _, n := range []uint64{1 << 63, 1 << 61, 1 << 47, 1 << 42} {
		_, err := f.Words(n)
		if err == nil {
			t.Fatalf("Words(%d) gives %s", n, formatBytes(byteSize(n)))
		}
		if !strings.HasPrefix(err.Error(), "mem: file "+path+": ") {
			t.Errorf("error %q does not name the file", err)
		}
		t.Log(err)
	}
	checkIntact(t, f, path)
}

// checkIntact holds that after failures the file has its one granule, and still grows.
func checkIntact(t *testing.T, f *File, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Size() != markBytes+granule || f.Size() != markBytes+granule {
		t.Errorf("file has %d bytes, says %d, want %d: %v", info.Size(), f.Size(), markBytes+granule, err)
	}
	checkBlock(t, take(t, f, 8), 8)
	checkBlock(t, take(t, f, 9000), 9000)
}

func TestReserveByWritingKeepsWhatIsThere(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "words"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte("old"), granule+5); err != nil {
		t.Fatal(err)
	}
	if err := reserveByWriting(file, granule, 2*granule); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file.Name())
	if err != nil || len(data) != 3*granule || string(data[granule+5:granule+8]) != "old" {
		t.Errorf("%d bytes, error %v", len(data), err)
	}
	zero := make([]byte, granule-8)
	if !slices.Equal(data[granule+8:2*granule], zero) {
		t.Error("what was added is not zero")
	}
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

func createFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := CreateFile(path)
	return closedAtEnd(t, f, err)
}

func openFile(t *testing.T, path string) *File {
	t.Helper()
	f, err := OpenFile(path)
	return closedAtEnd(t, f, err)
}

func closedAtEnd(t *testing.T, f *File, err error) *File {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func take(t *testing.T, f *File, n uint64) []uint64 {
	t.Helper()
	words, err := f.Words(n)
	if err != nil {
		t.Fatal(err)
	}
	return words
}
