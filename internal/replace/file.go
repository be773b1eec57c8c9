package replace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// File replaces the content of the named file by what write writes: into a
// temporary file beside it, to the disk, and then by renaming, to the disk again.
// A symbolic link stays one. A private file is readable by its owner only; any
// other keeps the permissions that it had.
func File(path string, private bool, write func(io.Writer) error) error {
	path, err := Follow(path)
	if err != nil {
		return fmt.Errorf("everbloom: save: %w", err)
	}
	// Opened before anything is changed: a folder that cannot be is no reason to
	// report an error about a file that has been replaced.
	folder, err := openFolder(folderOf(path))
	if err != nil {
		return fmt.Errorf("everbloom: save: %w", err)
	}
	defer func() { _ = folder.Close() }()
	temp, err := createBeside(path, private)
	if err != nil {
		return fmt.Errorf("everbloom: save: %w", err)
	}
	if err = fill(temp, write); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("everbloom: save %s: %w", path, errors.Join(err, os.Remove(temp.Name())))
	}
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("everbloom: save %s: written, but its name may not be on the disk: %w", path, err)
	}
	return nil
}

// fill writes the content of a file, brings it to the disk and closes it.
func fill(file *os.File, write func(io.Writer) error) error {
	err := write(file)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// folderOf returns the front of path, with the separator. It is not cleaned up,
// since ".." after a link to a folder leads elsewhere than the text suggests.
func folderOf(path string) string {
	folder, _ := filepath.Split(path)
	return cmp.Or(folder, "."+string(filepath.Separator))
}

// createBeside makes a new file in path's folder, on the same disk, with the
// permissions that path is to have: its old ones, if it is there.
func createBeside(path string, private bool) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
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

// createFresh makes a file with a name that is not in use and begins like path.
func createFresh(path string, mode fs.FileMode) (*os.File, error) {
	for range 100 {
		name := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("%s: no free name beside it", path)
}
