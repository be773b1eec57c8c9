package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// attempts at putting a folder into its place. One fails if another run has put
// its own there in that very moment, or where files cannot be renamed that another process
// reads.
const attempts = 100

// replace puts the files into the folder, in place of those that are there, all at
// once: two runs never mix theirs. They are written into a folder of another name,
// which is then renamed. In between there is no folder for a moment; a program that
// is killed just then leaves none, and the two under the other name. If they cannot
// be renamed the new files stay there, too: they may be the work of hours.
func replace(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(filepath.Dir(folder), "."+filepath.Base(folder)+"-")
	if err != nil {
		return err
	}
	fresh := filepath.Join(aside, "new")
	if err := write(fresh, files); err != nil {
		return errors.Join(err, os.RemoveAll(aside))
	}
	if err := swap(folder, fresh, aside); err != nil {
		return fmt.Errorf("%w: the files are in %s", err, fresh)
	}
	return os.RemoveAll(aside)
}

func write(folder string, files map[string][]byte) error {
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// swap moves the folder aside and the fresh one into its place. The error is that
// of the last attempt.
func swap(folder, fresh, aside string) (err error) {
	old := func(i int) string { return filepath.Join(aside, fmt.Sprint("old", i)) }
	for i := range attempts {
		if err = takeAway(folder, old(i), fresh); err != nil {
			return err
		}
		if err = os.Rename(fresh, folder); err == nil {
			return nil
		}
		time.Sleep(time.Duration(i) * time.Millisecond)
	}
	// What was there is better than nothing, if nothing else was put there.
	for i := range attempts {
		if os.Rename(old(attempts-1-i), folder) == nil {
			break
		}
	}
	return err
}

// takeAway renames the folder, if there is one, and gives those of its files to the
// fresh one that are not of a result.
func takeAway(folder, old, fresh string) error {
	if info, err := os.Lstat(folder); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "replace", Path: folder, Err: errors.New("not a folder")}
	}
	if err := os.Rename(folder, old); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	entries, err := os.ReadDir(old)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ours(e.Name()) {
			continue
		}
		if err := os.Rename(filepath.Join(old, e.Name()), filepath.Join(fresh, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// ours reports whether a file is one that Save writes.
func ours(name string) bool {
	ext := filepath.Ext(name)
	return name == resultFile || ext == ".csv" || ext == ".svg"
}
