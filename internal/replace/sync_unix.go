//go:build unix

package replace

import (
	"io/fs"
	"os"
	"syscall"
)

// openFolder opens a folder, whose Sync brings a file's new name to the disk.
func openFolder(path string) (*os.File, error) { return os.Open(path) }

// keepOwner gives a file that will replace another one the same owner, as far as
// the system allows: a file that root has changed still belongs to its user.
func keepOwner(file *os.File, old fs.FileInfo) {
	if stat, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(stat.Uid), int(stat.Gid))
	}
}
