//go:build linux && !purego

package mem

import (
	"errors"
	"os"
	"syscall"
)

// locks says that a file which is in use cannot be locked. The system unlocks those of a process that has ended.
const locks = true

func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errInUse
	}
	return os.NewSyscallError("flock", err)
}
