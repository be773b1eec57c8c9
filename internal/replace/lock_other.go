//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package replace

import (
	"os"
	"path/filepath"
	"sync"
)

// locksFiles tells that locks hold between the goroutines of this process only.
const locksFiles = false

// locked has the files that this process has locked.
var locked sync.Map

func tryLock(_ *os.File, path string) error {
	if _, held := locked.LoadOrStore(realName(path), true); held {
		return errHeld
	}
	return nil
}

func unlock(path string) { locked.Delete(realName(path)) }

// realName is the same for all paths to a folder.
func realName(path string) string {
	folder, err := filepath.EvalSymlinks(folderOf(path))
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err != nil {
		return path
	}
	return filepath.Join(folder, filepath.Base(path))
}
