package mem

import (
	"errors"
	"os"
	"syscall"
)

// reserve allocates the disk blocks of a part of a file. Signals interrupt some file
// systems.
func reserve(file *os.File, at, bytes int64) error {
	for {
		err := syscall.Fallocate(int(file.Fd()), 0, at, bytes)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
			return reserveByWriting(file, at, bytes)
		default:
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// checkSpace refuses what the disk cannot have before trying fills it, to the harm of
// other programs that write there.
func checkSpace(file *os.File, bytes int64) error {
	var disk syscall.Statfs_t
	err := syscall.Fstatfs(int(file.Fd()), &disk)
	// File systems that do not count their blocks say that they have none at all.
	if err == nil && disk.Blocks > 0 && uint64(bytes)/uint64(disk.Bsize) > disk.Bavail {
		err = syscall.ENOSPC
	}
	return os.NewSyscallError("statfs", err)
}
