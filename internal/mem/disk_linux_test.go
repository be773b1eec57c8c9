package mem

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestSpaceIsUsableAfterAFailure frees space and goes on with the same file.
func TestSpaceIsUsableAfterAFailure(t *testing.T) {
	dir := tinyDisk(t)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 820<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "words")
	f := createFile(t, path)
	fill(take(t, f, mapUnit/wordBytes), 1)
	if _, err := f.Words(3 * mapUnit / wordBytes); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("error %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	checkIntact(t, f, path)
}

// TestSpaceIsAllocated holds for both ways: a store into a hole of a full disk would be
// a fault.
func TestSpaceIsAllocated(t *testing.T) {
	for name, reserve := range map[string]func(*os.File, int64, int64) error{"asked for": reserve, "written": reserveByWriting} {
		file, err := os.Create(filepath.Join(t.TempDir(), "words"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := reserve(file, mapUnit, 2*mapUnit); err != nil {
			t.Fatal(err)
		}
		var info syscall.Stat_t
		if err := syscall.Fstat(int(file.Fd()), &info); err != nil || info.Size != 3*mapUnit || info.Blocks*512 < 2*mapUnit {
			t.Errorf("%s: %d bytes, %d on disk: %v", name, info.Size, info.Blocks*512, err)
		}
	}
}

// TestGrowthOnAFullDiskLeavesTheArray goes through an array, as filters do.
func TestGrowthOnAFullDiskLeavesTheArray(t *testing.T) {
	f := createFile(t, filepath.Join(tinyDisk(t), "words"))
	a := NewArray(10, 8, f)
	grow(t, a, 3000)
	fill(a.At(2999), 2999)
	if err := a.Grow(1 << 20); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("error %v", err)
	}
	if a.Cap() != 3072 {
		t.Errorf("capacity %d", a.Cap())
	}
	checkElement(t, a, 2999, 8)
}

// tinyDisk mounts a file system of 1 MiB in memory.
func tinyDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a tiny disk, which needs root: %v", err)
	}
	t.Cleanup(func() {
		// Lazily: files are closed by cleanups that run before this one, but a failed
		// test may have left one open.
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
