package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNearlyFullDisk leaves little room on a real file system: changes are refused at once,
// the server says so, and goes on when there is room.
func TestNearlyFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("cannot mount a tiny disk, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s, stop := run(t, "dir", filepath.Join(dir, "data"), "http", "127.0.0.1:0")
	c := dial(t, s.Addr().String())
	status := func() (ready int, info bool) {
		r, err := http.Get("http://" + s.WebAddr().String() + "/ready")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.StatusCode, strings.Contains(c.do("INFO", "persistence"), "aof_last_write_status:ok")
	}
	until(t, c, ":1")
	if ready, ok := status(); ready != http.StatusOK || !ok {
		t.Error("there is room:", ready, ok)
	}
	ballast := filepath.Join(dir, "ballast")
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ballast, make([]byte, int64(st.Bavail*uint64(st.Bsize))-2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, c, "-MISCONF")
	if ready, ok := status(); ready != http.StatusServiceUnavailable || ok {
		t.Error("there is no room:", ready, ok)
	}
	if got := c.do("BF.CARD", "k"); got[0] != ':' {
		t.Error(got)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	until(t, c, ":1")
	if ready, ok := status(); ready != http.StatusOK || !ok {
		t.Error("there is room again:", ready, ok)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
