package jetstream

import (
	"errors"
	"syscall"
)

// disk returns the size of the disk that a folder is on, and how much of it is free.
func disk(dir string) (size, free uint64, err error) {
	var st syscall.Statfs_t
	for {
		err = syscall.Statfs(dir, &st)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	return st.Blocks * uint64(st.Bsize), st.Bavail * uint64(st.Bsize), err
}
