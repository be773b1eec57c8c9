package server

import "syscall"

// diskSpace returns the size of the disk that a folder is on, and how much of it is free;
// zeros if that is unknown.
func diskSpace(dir string) (size, free uint64) {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 0, 0
	}
	return st.Blocks * uint64(st.Bsize), st.Bavail * uint64(st.Bsize)
}
