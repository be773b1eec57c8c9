//go:build !purego

package elastic

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestFullDiskChangesNothing grows in a real file system of 1 MiB.
func TestFullDiskChangesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a tiny disk, which needs root: %v", err)
	}
	f := filtertest.Make(t, New, Config{Items: 100, FPR: 0.01, SlowFile: filepath.Join(dir, "slow")})
	t.Cleanup(func() {
		if err := errors.Join(f.Close(), syscall.Unmount(dir, syscall.MNT_DETACH)); err != nil {
			t.Error(err)
		}
	})
	keys := filtertest.Keys(1, 100_000)
	n := 0
	var err error
	for ; n < len(keys) && err == nil; n++ {
		_, err = f.Add(keys[n])
	}
	if !errors.Is(err, filter.ErrStorage) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%d keys: %v", n, err)
	}
	size := f.Bits()
	if err := f.Grow(); !errors.Is(err, syscall.ENOSPC) || f.Bits() != size {
		t.Errorf("Grow: %v", err)
	}
	has(t, f, keys[:n-1], "on a full disk")
	intact(t, f, "on a full disk")
	remove(t, f, keys[:n-1]...)
	if f.table.set.Load() != 0 {
		t.Errorf("%d bits are left", f.table.set.Load())
	}
	if _, err := New(Config{Items: 1_000_000, SlowFile: filepath.Join(dir, "other")}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("New: %v", err)
	}
}
