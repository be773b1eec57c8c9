package keeper

import (
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestLinesThatDoNotFitAreTakenBack has a disk that is full in the middle of a line.
func TestLinesThatDoNotFitAreTakenBack(t *testing.T) {
	c := Config{State: filepath.Join(t.TempDir(), "state"), Sync: true, Now: func() time.Time { return noon }}
	k := open(t, c)
	k.Ban(addr("1.1.1.1"), 0, "x")
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	small := before
	small.Cur = uint64(k.journal.written + 20)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	k.Ban(addr("2.2.2.2"), 0, "x")
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if k.Failure() == nil {
		t.Error("the failure is not told")
	}
	k.Ban(addr("3.3.3.3"), 0, "x")
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, c)
	if got := lasts(again); got != "1.1.1.1/32 for ever ×1 x, 3.3.3.3/32 for ever ×1 x" || again.Failure() != nil {
		t.Error(got)
	}
}
