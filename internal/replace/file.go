package replace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File replaces the content of the named file by what write writes: into a
// temporary file beside it, to the disk, and then by renaming, to the disk again.
// A symbolic link stays one. A private file is readable by its owner only; any
// other keeps the permissions that it had. If another writer has locked the file,
// File waits with renaming until that one is done or ctx ends.
func File(ctx context.Context, path string, private bool, write func(io.Writer) error) error {
	path, err := Follow(path)
	if err != nil {
		return fmt.Errorf("everbloom: save: %w", err)
	}
	return replaceFile(path, private, write, func(temp string) error { return place(ctx, temp, path) })
}

// Create is File for a file that is not there. If there is one by the time that the
// new one is written, it stays, and that is no error.
func Create(path string, private bool, write func(io.Writer) error) error {
	path, err := Follow(path)
	if err != nil {
		return fmt.Errorf("everbloom: save: %w", err)
	}
	err = replaceFile(path, private, write, func(temp string) error { return placeFirst(temp, path) })
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// replaceFile writes a temporary file that place renames to path.
func replaceFile(path string, private bool, write func(io.Writer) error, place func(temp string) error) error {
	// Opened before anything is changed: a folder that cannot be is no reason to
	// report an error about a file that has been replaced.
	folder, err := openFolder(folderOf(path))
	if err != nil {
		return fmt.Errorf("everbloom: save: %w", err)
	}
	defer func() { _ = folder.Close() }()
	removeLeftovers(path)
	temp, err := createBeside(path, private)
	if err != nil {
		return fmt.Errorf("everbloom: save: %w", err)
	}
	defer func() { _ = temp.Close() }() // which unlocks it: it must have its new name by then
	if err = fill(temp, write); err == nil {
		err = place(temp.Name())
	}
	if err != nil {
		return fmt.Errorf("everbloom: save %s: %w", path, errors.Join(err, os.Remove(temp.Name())))
	}
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("everbloom: save %s: written, but its name may not be on the disk: %w", path, err)
	}
	return nil
}

// fill writes the content of a file and brings it to the disk.
func fill(file *os.File, write func(io.Writer) error) error {
	err := write(file)
	if err == nil {
		err = file.Sync()
	}
	if locksFiles {
		return err
	}
	return errors.Join(err, file.Close()) // such a system may refuse to rename an open file
}

// place renames temp to path, under the lock of the file that has that name. A
// file system without locks has no other writer that holds one.
func place(ctx context.Context, temp, path string) error {
	for {
		l, err := Acquire(ctx, path)
		switch {
		case err == nil:
			defer l.Release()
			if !locksFiles {
				_ = l.file.Close() // such a system may refuse to rename over an open file
			}
			return os.Rename(temp, path)
		case errors.Is(err, ErrNoLocks):
			return os.Rename(temp, path)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := placeFirst(temp, path); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// placeFirst renames temp to path unless there is such a file by now, which must
// be locked before it is replaced.
func placeFirst(temp, path string) error {
	switch err := os.Link(temp, path); {
	case err == nil:
		_ = os.Remove(temp) // else the next writer does it
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	return os.Rename(temp, path) // a file here has one name only
}

// folderOf returns the front of path, with the separator. It is not cleaned up,
// since ".." after a link to a folder leads elsewhere than the text suggests.
func folderOf(path string) string {
	folder, _ := filepath.Split(path)
	return cmp.Or(folder, "."+string(filepath.Separator))
}
