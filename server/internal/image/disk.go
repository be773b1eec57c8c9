package image

import (
	"io"
	"os"
	"path/filepath"
)

// A Disk is a folder. Tests have one that forgets what was not synced.
type Disk interface {
	Create(name string) (File, error)
	Open(name string) (io.ReadCloser, error)
	ReadAt(name string, b []byte, offset int64) error
	Rename(from, to string) error // and brings the names to the disk
	Remove(name string) error
	List() ([]string, error)
}

// A File is being written.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// Dir is a folder of the system.
type Dir string

// MakeDir returns a folder, which is made if it is missing.
func MakeDir(path string) (Dir, error) { return Dir(path), os.MkdirAll(path, 0o700) }

func (d Dir) path(name string) string { return filepath.Join(string(d), name) }

// Create makes a file, or empties it.
func (d Dir) Create(name string) (File, error) {
	return os.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// Open opens a file to read it.
func (d Dir) Open(name string) (io.ReadCloser, error) { return os.Open(d.path(name)) }

// ReadAt fills b from an offset of a file.
func (d Dir) ReadAt(name string, b []byte, offset int64) error {
	f, err := os.Open(d.path(name))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	_, err = f.ReadAt(b, offset)
	return err
}

// Rename gives a file another name, and syncs the folder.
func (d Dir) Rename(from, to string) error {
	if err := os.Rename(d.path(from), d.path(to)); err != nil {
		return err
	}
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only synced
	return f.Sync()
}

// Remove deletes a file.
func (d Dir) Remove(name string) error { return os.Remove(d.path(name)) }

// List returns the names of all files.
func (d Dir) List() (names []string, err error) {
	entries, err := os.ReadDir(string(d))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
