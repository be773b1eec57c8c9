//go:build linux && !purego

package evergreen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestForgottenSlowFilesGo drops a filter without closing it.
func TestForgottenSlowFilesGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow")
	of(t, evergreen.Config{SlowFile: path}, filtertest.Keys(1, 3000))
	for range 1000 {
		runtime.GC()
		if _, err := os.Stat(path); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the file is left")
}

// TestLeftSlowFilesAreTakenOver has a process that is killed, and then another filter
// with the same file.
func TestLeftSlowFilesAreTakenOver(t *testing.T) {
	path := os.Getenv("EVERBLOOM_SLOW_FILE")
	if path != "" {
		of(t, evergreen.Config{SlowFile: path}, filtertest.Keys(1, 3000))
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	path = filepath.Join(t.TempDir(), "slow")
	child := exec.Command(os.Args[0], "-test.run=^TestLeftSlowFilesAreTakenOver$")
	child.Env = append(os.Environ(), "EVERBLOOM_SLOW_FILE="+path)
	if err := child.Run(); err == nil {
		t.Fatal("the process was not killed")
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("nothing was left: %v", err)
	}
	f := of(t, evergreen.Config{SlowFile: path}, filtertest.Keys(2, 3000))
	wantExactly(t, "in a file that was left", f, filtertest.Keys(2, 3000))
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
