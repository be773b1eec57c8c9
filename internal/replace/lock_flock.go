//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package replace

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// locksFiles tells that locks hold between processes.
const locksFiles = true

// flock is replaced by tests that need a file system without locks.
var flock = syscall.Flock

// tryLock locks an open file until it is closed.
func tryLock(file *os.File, path string) error {
	for {
		err := flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOLCK):
			return fmt.Errorf("%s: %w: %w", path, ErrNoLocks, err)
		case err != nil:
			return fmt.Errorf("%s: lock: %w", path, err)
		}
		return nil
	}
}

// unlock has nothing to do: closing the file unlocks it.
func unlock(string) {}
