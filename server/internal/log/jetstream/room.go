package jetstream

import (
	"io/fs"
	"path/filepath"
)

// folderSize returns how many bytes the files of a folder have.
func folderSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be seen is not counted
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}
