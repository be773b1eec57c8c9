package everbloom

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// replaceFile replaces the content of the named file by what write writes: into
// a temporary file beside it, to the disk, and then by renaming, to the disk
// again. A symbolic link stays one.
func replaceFile(path string, private bool, write func(io.Writer) error) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode, err := modeFor(path, private)
	if err != nil {
		return err
	}
	temp, err := createBeside(path, mode)
	if err != nil {
		return fmt.Errorf("everbloom: save: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, discard(temp))
		}
	}()
	if err := write(temp); err != nil {
		return fmt.Errorf("everbloom: save %s: %w", path, err)
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return fmt.Errorf("everbloom: save %s: %w", path, err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("everbloom: save: %w", err)
	}
	return syncFolder(filepath.Dir(path))
}

// modeFor returns the permissions of a file that is to be replaced, or those of
// a new one.
func modeFor(path string, private bool) (fs.FileMode, error) {
	if private {
		return 0o600, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0o666, nil
	case err != nil:
		return 0, fmt.Errorf("everbloom: save: %w", err)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("everbloom: save %s: not a regular file", path)
	}
	return info.Mode().Perm(), nil
}

// createBeside makes a new file in path's folder, on the same disk.
func createBeside(path string, mode fs.FileMode) (*os.File, error) {
	for range 100 {
		name := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("no free name beside %s", path)
}

// discard removes a temporary file that will not be needed.
func discard(temp *os.File) error {
	_ = temp.Close() // may be closed already
	if err := os.Remove(temp.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
