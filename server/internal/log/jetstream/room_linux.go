package jetstream

import "syscall"

// diskRoom returns how many bytes the log may take: what is free and what it has, less a
// tenth.
func diskRoom(dir string) int64 {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 1 << 50
	}
	return max(int64(st.Bavail*uint64(st.Bsize)/10*9)+folderSize(dir), 64<<20)
}
