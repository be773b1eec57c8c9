package mem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// mapUnit is the smallest part of a file that is mapped, a multiple of the page size of
// every system. Smaller blocks share one.
const mapUnit = 64 << 10

// A File is an [Allocator] of memory that lies in a file. The file is scratch space: it
// never shrinks, and goes with Discard, or when the File is collected. Its owner keeps
// the File for as long as it uses the blocks: afterwards an access ends the process.
type File struct{ *scratch }

// A scratch is all of a File that its removal needs.
type scratch struct {
	path string      // absolute: the working folder may change
	info os.FileInfo // which file it is

	mu       sync.Mutex
	file     *os.File // nil after Discard
	mappings []mapping
	rest     []uint64 // what blocks have left of the newest mapping
	end      int64    // of the newest mapping
}

var _ Allocator = (*File)(nil)

// mark is what a file begins with. Words come behind it, from the next mapUnit on.
const mark = "everbloom slow memory: scratch space, of no use once its process has ended\n"

var (
	errInUse   = fmt.Errorf("%w and is in use: name another", fs.ErrExist)
	errForeign = fmt.Errorf("%w, and is not known to be left by a filter: remove it or name another", fs.ErrExist)
)

// CreateFile makes an empty file that only its owner may read. A path that exists is
// refused, unless a process that has ended left the file: it has the mark and no lock.
func CreateFile(path string) (*File, error) {
	s, err := open(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		s, err = takeOver(path)
	}
	if err != nil {
		return nil, err
	}
	if _, err := s.file.WriteAt([]byte(mark), 0); err != nil {
		return nil, errors.Join(s.fail("create", err), s.Discard())
	}
	f := &File{s}
	runtime.AddCleanup(f, func(s *scratch) { _ = s.Discard() }, s)
	return f, nil
}

// takeOver opens and empties a file that was left.
func takeOver(path string) (*scratch, error) {
	s, err := open(path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	there, err := s.there()
	switch {
	case err != nil || !there: // it was removed, or replaced, while it was opened
		err = errors.Join(fs.ErrExist, err)
	case !s.isMarked():
		err = errForeign
	default:
		err = s.file.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(s.fail("create", err), s.file.Close())
	}
	return s, nil
}

// open opens and locks a file.
func open(path string, flags int) (*scratch, error) {
	if !mapsFiles {
		return nil, fault.In("mem", "file %s: this system does not map files: %w", path, errors.ErrUnsupported)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.In("mem", "%w", err)
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fault.In("mem", "%w", err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("mode %v is not that of a regular file", info.Mode())
	}
	if err == nil {
		err = lock(file)
	}
	if err != nil {
		return nil, errors.Join(fault.In("mem", "file %s: %w", path, err), file.Close())
	}
	return &scratch{path: path, info: info, file: file, end: mapUnit}, nil
}

// isMarked reports whether the file has the mark, or the part of it that was written
// when the process ended.
func (s *scratch) isMarked() bool {
	head := make([]byte, len(mark))
	n, _ := s.file.ReadAt(head, 0)
	return strings.HasPrefix(mark, string(head[:n]))
}

// Words returns a block of n words in the file. Its space on disk is allocated: a full
// disk or a quota is an error here.
func (s *scratch) Words(n uint64) ([]uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.check(n); err != nil {
		return nil, s.fail("words", err)
	}
	lines := (n + lineWords - 1) / lineWords * lineWords
	if lines > uint64(len(s.rest)) {
		if err := s.extend(int64(lines * wordBytes)); err != nil {
			return nil, err
		}
	}
	block := s.rest[:n:n]
	s.rest = s.rest[lines:]
	return block, nil
}

// check refuses blocks of a file that is gone, and those that would not fit an int on
// 32-bit systems, rounded up to a mapUnit.
func (s *scratch) check(n uint64) error {
	if s.file == nil {
		return os.ErrClosed
	}
	if most := addressSpace - mapUnit; byteSize(n) > most {
		return refusal(byteSize(n), limit{most, "the address space"})
	}
	return nil
}

// canGive says why blocks of n words in all cannot be had.
func (s *scratch) canGive(n uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.check(n)
	if err == nil {
		err = checkSpace(s.file, int64(n)*wordBytes)
	}
	if err != nil {
		return s.fail("growing by "+quantity.Bytes(float64(byteSize(n))), err)
	}
	return nil
}

// extend appends to the file and makes that the rest, from which blocks are cut. The
// old rest stays unused.
func (s *scratch) extend(bytes int64) error {
	bytes = (bytes + mapUnit - 1) / mapUnit * mapUnit
	m, err := s.mapEnd(bytes)
	if err != nil {
		// Part of the space may have been allocated before the disk was full.
		err = errors.Join(err, s.file.Truncate(s.end))
		return s.fail(fmt.Sprintf("growing by %s from %s", quantity.Bytes(float64(bytes)), quantity.Bytes(float64(s.end))), err)
	}
	s.mappings = append(s.mappings, m)
	s.rest = m.words()
	s.end += bytes
	return nil
}

// mapEnd allocates disk blocks behind the end of the file and maps them.
func (s *scratch) mapEnd(bytes int64) (mapping, error) {
	if err := checkSpace(s.file, bytes); err != nil {
		return nil, err
	}
	if err := reserve(s.file, s.end, bytes); err != nil {
		return nil, err
	}
	return newMapping(s.file, s.end, bytes)
}

// Discard gives the memory back and removes the file. A path that leads nowhere, or to
// another file now, is left alone. Discarding again does nothing.
func (s *scratch) Discard() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	there, err := s.there() // before it is closed: then another file may get its number
	if there {
		err = os.Remove(s.path) // while it is locked: then another File may have it
	}
	for _, m := range s.mappings {
		err = errors.Join(err, m.release())
	}
	err = errors.Join(err, s.file.Close())
	s.file, s.mappings, s.rest = nil, nil, nil
	if err != nil {
		return s.fail("discard", err)
	}
	return nil
}

// there reports whether the path still leads to the file.
func (s *scratch) there() (bool, error) {
	now, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(now, s.info), err
}

func (s *scratch) fail(what string, err error) error {
	return fault.In("mem", "file %s: %s: %w", s.path, what, err)
}

// reserveByWriting allocates space on disk without help from the file system. Only
// after the sync is it certain that systems which choose blocks late have found them.
func reserveByWriting(file *os.File, at, bytes int64) error {
	zeros := make([]byte, mapUnit)
	for end := at + bytes; at < end; at += mapUnit {
		if _, err := file.WriteAt(zeros, at); err != nil {
			return err
		}
	}
	return file.Sync()
}
