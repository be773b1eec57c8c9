//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package mem

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// mapsFiles says that files can be mapped and locked here.
const mapsFiles = true

// lock locks a file until it is closed, or its process ends.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errInUse
	}
	return os.NewSyscallError("flock", err)
}

// mapping is a mapped part of a file.
type mapping []byte

func newMapping(file *os.File, at, bytes int64) (mapping, error) {
	m, err := syscall.Mmap(int(file.Fd()), at, int(bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return m, os.NewSyscallError("mmap", err)
}

func (m mapping) words() []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(m))), len(m)/wordBytes)
}

func (m mapping) release() error { return os.NewSyscallError("munmap", syscall.Munmap(m)) }
