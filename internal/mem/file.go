package mem

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// granule is the smallest part of a file that is mapped. It is a multiple of the page size of every system, so that
// the same requests find the same places on each. Smaller blocks share one.
const granule = 64 << 10

// File is an [Allocator] of memory that lies in a file. Blocks are laid out in the order in which they are asked for, so a
// file that is opened again gives the words it had to the same requests in the same order.
//
// The file never shrinks: there is no way to give a block back. The owner stops using the blocks before Close, which takes their addresses away: a later access ends the process.
// One File at a time may have a path open.
type File struct {
	path string      // absolute: the working folder may change
	info os.FileInfo // which file it is

	mu     sync.Mutex
	gone   bool     // after Discard
	file   *os.File // nil after Close
	pieces []piece
	rest   []uint64 // what blocks have left of the newest piece
	next   int64    // where the next piece begins
	size   int64    // of the file
}

var _ Allocator = (*File)(nil)

// CreateFile makes an empty file that only its owner may read. A path that exists is refused, unless it is what a process
// left that ended without Discard: made by CreateFile, and not in use.
func CreateFile(path string) (*File, error) {
	f, err := newFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		f, err = takeOver(path)
	}
	if err != nil {
		return nil, err
	}
	if _, err := f.file.WriteAt([]byte(mark), 0); err != nil {
		return nil, errors.Join(f.fail("create", err), f.Discard())
	}
	f.size = int64(len(mark))
	return f, nil
}

// OpenFile opens a file made by CreateFile. Its old words are given out again; what Words adds behind them is zero.
func OpenFile(path string) (*File, error) {
	f, err := newFile(path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if !f.isMarked() {
		return nil, errors.Join(f.fail("open", errors.New("it was not made for this")), f.Close())
	}
	return f, nil
}

// takeOver empties a file that was left.
func takeOver(path string) (*File, error) {
	f, err := newFile(path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	switch there, err := f.there(); {
	case err != nil || !there: // it was removed, or replaced, while it was opened
		err = errors.Join(fs.ErrExist, err)
		return nil, errors.Join(f.fail("create", err), f.Close())
	case !locks || !f.isMarked():
		err = fmt.Errorf("%w, and is not known to be left by a filter: remove it or name another", fs.ErrExist)
		return nil, errors.Join(f.fail("create", err), f.Close())
	}
	if err := f.file.Truncate(0); err != nil {
		return nil, errors.Join(f.fail("create", err), f.Close())
	}
	return f, nil
}

func newFile(path string, flags int) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("mem: %w", err)
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("mem: %w", err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("mode %v is not that of a regular file", info.Mode())
	}
	if err == nil {
		err = lock(file)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mem: file %s: %w", path, err), file.Close())
	}
	return &File{path: path, info: info, file: file, next: markBytes, size: info.Size()}, nil
}

// mark is what a file begins with. Words come behind it, in pieces.
const (
	mark      = "everbloom slow memory: scratch space, of no use once its process has ended\n"
	markBytes = granule
)

func (f *File) isMarked() bool {
	head := make([]byte, len(mark))
	n, _ := f.file.ReadAt(head, 0)
	return strings.HasPrefix(mark, string(head[:n])) // a process may end before it writes
}

// errInUse is the answer for files that another File has open, here or in another process.
var errInUse = fmt.Errorf("%w and is in use: name another", fs.ErrExist)

// Words returns a block of n words in the file. Its space on disk is allocated: a full disk or a quota is an error here.
func (f *File) Words(n uint64) ([]uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil, f.fail("words", os.ErrClosed)
	}
	if err := checkAddresses(n); err != nil {
		return nil, f.fail("words", err)
	}
	lines := (n + lineWords - 1) / lineWords * lineWords
	if lines > uint64(len(f.rest)) {
		if err := f.addPiece(int64(lines * wordBytes)); err != nil {
			return nil, err
		}
	}
	block := f.rest[:n:n]
	f.rest = f.rest[lines:]
	return block, nil
}

// checkAddresses refuses blocks that would not fit an int on 32-bit systems, rounded up to a granule.
func checkAddresses(n uint64) error {
	if limit := addressSpace - granule; byteSize(n) > limit {
		return refusal(byteSize(n), room{limit, "the address space"})
	}
	return nil
}

// canGive says why blocks of n words in all cannot be had.
func (f *File) canGive(n uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return f.fail("words", os.ErrClosed)
	}
	err := checkAddresses(n)
	if err == nil {
		err = checkPiece(f.file, f.next, int64(n)*wordBytes)
	}
	if err != nil {
		return f.fail("growing by "+formatBytes(byteSize(n)), err)
	}
	return nil
}

// addPiece makes the next piece of the file the rest, from which blocks are cut. The old rest stays unused.
func (f *File) addPiece(bytes int64) error {
	bytes = (bytes + granule - 1) / granule * granule
	p, err := newPiece(f.file, f.next, bytes)
	if err != nil {
		// Part of the space may have been allocated before the disk was full.
		err = errors.Join(err, f.file.Truncate(f.size))
		return f.fail(fmt.Sprintf("growing by %s from %s", formatBytes(uint64(bytes)), formatBytes(uint64(f.next))), err)
	}
	f.pieces = append(f.pieces, p)
	f.rest = p.words()
	f.next += bytes
	f.size = max(f.size, f.next)
	return nil
}

// Size returns the size of the file in bytes.
func (f *File) Size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size
}

// Sync returns when all words are on disk. Words written meanwhile may or may not be.
func (f *File) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return f.fail("sync", os.ErrClosed)
	}
	if err := errors.Join(f.flush(), f.file.Sync()); err != nil {
		return f.fail("sync of "+formatBytes(uint64(f.size)), err)
	}
	return nil
}

// Close gives the memory back. The words stay in the file, as durable as the system's cache; call Sync first where they must
// survive a crash of the machine. Closing again does nothing.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.flush()
	for _, p := range f.pieces {
		err = errors.Join(err, p.release())
	}
	err = errors.Join(err, f.file.Close())
	f.file, f.pieces, f.rest = nil, nil, nil
	if err != nil {
		return f.fail("close of "+formatBytes(uint64(f.size)), err)
	}
	return nil
}

// Discard removes the file and closes it, for memory that will not be opened again. A file that is gone already, or whose
// path leads to another one now, is only closed. Discarding again does nothing.
func (f *File) Discard() error {
	there, err := f.there()                // asked while the file is open, when no other can have its number
	if there && os.Remove(f.path) == nil { // while it is locked, so that it is not another's
		there = false
	}
	err = errors.Join(f.Close(), err)
	if there { // some systems do not remove open files
		err = errors.Join(err, os.Remove(f.path))
	}
	if err != nil {
		return f.fail("discard", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = true
	return nil
}

// there reports whether the path still leads to the file.
func (f *File) there() (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return false, nil
	}
	now, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(now, f.info), err
}

// flush brings words that are not mapped to the file.
func (f *File) flush() error {
	for _, p := range f.pieces {
		if err := p.flush(f.file); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) fail(what string, err error) error {
	return fmt.Errorf("mem: file %s: %s: %w", f.path, what, err)
}

// reserveByWriting allocates space on disk without help from the file system: it writes back what is there, or zeros. Only
// after the sync is it certain that systems which choose blocks late have found them.
func reserveByWriting(file *os.File, at, bytes int64) error {
	buf := make([]byte, granule)
	for end := at + bytes; at < end; at += granule {
		clear(buf)
		if _, err := file.ReadAt(buf, at); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if _, err := file.WriteAt(buf, at); err != nil {
			return err
		}
	}
	return file.Sync()
}
