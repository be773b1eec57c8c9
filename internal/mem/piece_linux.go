//go:build linux && !purego

package mem

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// piece is a mapped part of a file.
type piece []byte

// newPiece allocates and maps a part of a file. What lies there already is kept.
func newPiece(file *os.File, at, bytes int64) (piece, error) {
	if err := reserve(file, at, bytes); err != nil {
		return nil, err
	}
	p, err := syscall.Mmap(int(file.Fd()), at, int(bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return p, os.NewSyscallError("mmap", err)
}

// reserve allocates the disk blocks of a part of a file.
func reserve(file *os.File, at, bytes int64) error {
	if err := checkPiece(file, at, bytes); err != nil {
		return err
	}
	err := allocate(file, at, bytes)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return reserveByWriting(file, at, bytes)
	}
	return os.NewSyscallError("fallocate", err)
}

// allocate asks the file system for blocks, those of holes included. Signals interrupt some file systems.
func allocate(file *os.File, at, bytes int64) error {
	for {
		err := syscall.Fallocate(int(file.Fd()), 0, at, bytes)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// checkPiece refuses what the disk cannot have before trying fills it, to the harm of everybody else who writes there.
func checkPiece(file *os.File, at, bytes int64) error {
	var disk syscall.Statfs_t
	info, err := file.Stat()
	if err != nil || syscall.Fstatfs(int(file.Fd()), &disk) != nil {
		return err
	}
	more := uint64(max(0, at+bytes-info.Size()))
	// File systems that do not count their blocks say that they have none at all.
	if disk.Blocks > 0 && more/uint64(disk.Bsize) > disk.Bavail {
		return os.NewSyscallError("statfs", syscall.ENOSPC)
	}
	return nil
}

func (p piece) words() []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(p))), len(p)/wordBytes)
}

// flush has nothing to do: Linux knows which mapped pages were written to, and syncing the file writes them.
func (p piece) flush(*os.File) error { return nil }

func (p piece) release() error {
	return os.NewSyscallError("munmap", syscall.Munmap(p))
}
