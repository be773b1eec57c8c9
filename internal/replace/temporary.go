package replace

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// createBeside makes a new file in path's folder, on the same disk, with the
// permissions that path is to have: its old ones, if it is there.
func createBeside(path string, private bool) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "replace", Path: path, Err: errNotRegular}
	case err != nil && private:
		return createFresh(path, 0o600)
	case err != nil:
		return createFresh(path, 0o666)
	}
	temp, err := createFresh(path, 0o600)
	if err != nil {
		return nil, err
	}
	keepOwner(temp, info)
	if private {
		return temp, nil
	}
	if err := temp.Chmod(info.Mode().Perm()); err != nil { // unlike the mode of a new file, free from the umask
		return nil, errors.Join(err, temp.Close(), os.Remove(temp.Name()))
	}
	return temp, nil
}

// createFresh makes a file with a name that is not in use and begins like path,
// and locks it if the file system can do that.
func createFresh(path string, mode fs.FileMode) (*os.File, error) {
	for range 100 {
		name := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if lockTemporary(file) {
			return file, nil
		}
		_ = file.Close() // another writer took it for a leftover before it was locked, and removes it
	}
	return nil, fmt.Errorf("%s: no free name beside it", path)
}

// lockTemporary reports whether a file that was just made is safe from being
// removed as a leftover.
func lockTemporary(file *os.File) bool {
	if !locksFiles {
		return true
	}
	if err := tryLock(file, file.Name()); err != nil {
		return !errors.Is(err, errHeld) // what this process cannot lock, no other can
	}
	current, err := (&Lock{file.Name(), file}).current()
	return current || err != nil
}

// temporaryEnd is what createFresh appends to a name.
var temporaryEnd = regexp.MustCompile(`^\.[0-9a-f]{8}\.tmp$`)

// removeLeftovers removes the temporary files of writers of path that no longer
// run. A leftover that cannot be removed is no reason to fail.
func removeLeftovers(path string) {
	if !locksFiles {
		return
	}
	folder, err := os.Open(folderOf(path))
	if err != nil {
		return
	}
	defer func() { _ = folder.Close() }()
	for err == nil {
		var names []string
		names, err = folder.Readdirnames(1000)
		for _, name := range names {
			if end, ok := strings.CutPrefix(name, filepath.Base(path)); ok && temporaryEnd.MatchString(end) {
				removeLeftover(folderOf(path) + name)
			}
		}
	}
}

// removeLeftover removes a file that no process has locked.
func removeLeftover(path string) {
	l, err := lockFile(path)
	if err != nil {
		return
	}
	defer l.Release()
	if current, _ := l.current(); current {
		_ = os.Remove(path)
	}
}
