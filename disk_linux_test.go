package everbloom

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestFullDiskLeavesTheOldFile fills a real file system of 1 MiB.
func TestFullDiskLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a tiny disk, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "set")
	old := filled(t, Needs{Items: 100_000}, 0, 100)
	if err := old.Save(path); err != nil {
		t.Fatal(err)
	}
	err := filled(t, Needs{Items: 1_000_000}, 0, 100).Save(path)
	wantError(t, err, syscall.ENOSPC, path)
	wantContent(t, path, stored(t, old))
	wantOnly(t, dir, "set")
	if err := old.Save(path); err != nil {
		t.Errorf("after a failure: %v", err)
	}
}
