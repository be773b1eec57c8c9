package replace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"
)

// Waiting writers try again after shortestWait, and then ever more seldom up to
// longestWait: a wait that cannot be interrupted would be the alternative.
const (
	shortestWait = time.Millisecond
	longestWait  = 100 * time.Millisecond
)

// ErrNoLocks is returned where the file system cannot lock files.
var ErrNoLocks = errors.New("the file system cannot lock files")

var errNotRegular = errors.New("not a regular file")

// errHeld is returned where another writer has the lock.
var errHeld = errors.New("locked by another writer")

// errReplaced is returned where a locked file no longer has its name.
var errReplaced = errors.New("a program that takes no lock has moved or replaced the file meanwhile: try again")

// A Lock keeps other writers away from a file until Release.
type Lock struct {
	path string   // where links led
	file *os.File // what path named when the lock was taken
}

// noticeAfter is when a wait is worth telling.
const noticeAfter = time.Second

type noticeKey struct{}

// WithNotice returns a context under which Acquire calls notice if it has to wait
// for more than a second.
func WithNotice(ctx context.Context, notice func()) context.Context {
	return context.WithValue(ctx, noticeKey{}, notice)
}

// Acquire waits for the lock of an existing file, until ctx ends.
func Acquire(ctx context.Context, path string) (*Lock, error) {
	notice, _ := ctx.Value(noticeKey{}).(func())
	start := time.Now()
	for wait := shortestWait; ; wait = min(2*wait, longestWait) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, err := tryAcquire(path)
		if !errors.Is(err, errHeld) {
			return l, err
		}
		if notice != nil && time.Since(start) > noticeAfter {
			notice()
			notice = nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// tryAcquire takes the lock if it is free. It begins again if the file was
// replaced before it was locked: then another writer has just finished.
func tryAcquire(path string) (*Lock, error) {
	for {
		target, err := Follow(path)
		if err != nil {
			return nil, err
		}
		l, err := lockFile(target)
		if err != nil {
			return nil, err
		}
		current, err := l.current()
		if current {
			return l, nil
		}
		l.Release()
		if err != nil {
			return nil, err
		}
	}
}

// lockFile opens and locks a regular file.
func lockFile(path string) (*Lock, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	if err := tryLock(file, path); err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return &Lock{path, file}, nil
}

// openRegular opens for writing, too, if that is allowed: network file systems
// may lock only what is. Opening anything but a regular file might wait.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "lock", Path: path, Err: errNotRegular}
	}
	if file, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
		return file, nil
	}
	return os.Open(path)
}

// current reports whether the path still names the locked file.
func (l *Lock) current() (bool, error) {
	held, err := l.file.Stat()
	if err != nil {
		return false, err
	}
	now, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(held, now), err
}

// Reader returns the content of the locked file, to be read once.
func (l *Lock) Reader() io.Reader { return l.file }

// Replace replaces the locked file as File does.
func (l *Lock) Replace(private bool, write func(io.Writer) error) error {
	return replaceFile(l.path, private, write, func(temp string) error {
		current, err := l.current()
		if err != nil {
			return err
		}
		if !current {
			return &fs.PathError{Op: "replace", Path: l.path, Err: errReplaced}
		}
		if !locksFiles {
			_ = l.file.Close() // such a system may refuse to rename over an open file
		}
		return os.Rename(temp, l.path)
	})
}

// Release gives up the lock.
func (l *Lock) Release() {
	unlock(l.path)
	_ = l.file.Close() // nothing was written through it
}
