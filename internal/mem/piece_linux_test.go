//go:build linux && !purego

package mem

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAllocationItselfFindsTheDiskFull leaves out the look at the free space, as when somebody else takes it in between.
func TestAllocationItselfFindsTheDiskFull(t *testing.T) {
	file, err := os.Create(filepath.Join(tinyDisk(t), "words"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := allocate(file, 0, 2<<20); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("2 MiB on a disk of 1 MiB: %v", err)
	}
	if err := allocate(file, 0, 512<<10); err != nil {
		t.Errorf("512 KiB on a disk of 1 MiB: %v", err)
	}
}

// TestHolesAreAllocated opens a sparse file: a store into a hole of a full disk would be a fault.
func TestHolesAreAllocated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(path, []byte(mark), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, markBytes+4*granule); err != nil {
		t.Fatal(err)
	}
	f := openFile(t, path)
	checkBlock(t, take(t, f, 4*granule/wordBytes), 4*granule/wordBytes)
	var info syscall.Stat_t
	if err := syscall.Stat(path, &info); err != nil {
		t.Fatal(err)
	}
	if info.Blocks*512 < 4*granule {
		t.Errorf("%d bytes on disk of %d", info.Blocks*512, 4*granule)
	}
}

// TestExistingSpaceIsNotAskedForAgain opens a file that fills its disk.
func TestExistingSpaceIsNotAskedForAgain(t *testing.T) {
	path := filepath.Join(tinyDisk(t), "words")
	f := createFile(t, path)
	const most = 1<<20/wordBytes - granule/wordBytes
	fill(take(t, f, most), 4)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	g := openFile(t, path)
	if words := take(t, g, most); words[1] != 4<<16|1 {
		t.Errorf("words begin with %x", words[:2])
	}
}
