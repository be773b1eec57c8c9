//go:build !linux

package jetstream

// diskRoom returns how many bytes the log may take; here that is unknown.
func diskRoom(dir string) int64 { return 1<<50 + folderSize(dir) }
