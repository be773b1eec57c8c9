package log

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
)

// File is a log in a plain file: length 4, crc32c 4, bytes. It exists to tell what an
// engine costs; it never gives room back.
type File struct {
	mu      sync.Mutex
	f       *os.File
	size    int64
	offsets []int64 // of the entries
	buf     []byte
	failed  error
}

const fileHead = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenFile opens or makes a log in a file. What follows the last complete entry was never
// acknowledged and is cut off.
func OpenFile(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l := &File{f: f}
	for {
		b, err := l.read(l.size)
		if err != nil {
			break
		}
		l.offsets = append(l.offsets, l.size)
		l.size += fileHead + int64(len(b))
	}
	return l, f.Truncate(l.size)
}

// read returns the entry at an offset.
func (l *File) read(offset int64) ([]byte, error) {
	var head [fileHead]byte
	if _, err := l.f.ReadAt(head[:], offset); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.NewSectionReader(l.f, offset+fileHead, int64(binary.LittleEndian.Uint32(head[:]))))
	if err == nil && (len(b) != int(binary.LittleEndian.Uint32(head[:])) || crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(head[4:])) {
		err = errors.New("log: damaged entry")
	}
	return b, err
}

// Append writes an entry and syncs the file.
func (l *File) Append(_ context.Context, after uint64, b []byte) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return 0, l.failed
	}
	if after != uint64(len(l.offsets)) {
		return 0, fmt.Errorf("log: append behind %d, the last is %d: %w", after, len(l.offsets), ErrMoved)
	}
	l.buf = binary.LittleEndian.AppendUint32(l.buf[:0], uint32(len(b)))
	l.buf = binary.LittleEndian.AppendUint32(l.buf, crc32.Checksum(b, castagnoli))
	l.buf = append(l.buf, b...)
	_, err := l.f.WriteAt(l.buf, l.size)
	if err == nil {
		err = dataSync(l.f)
	}
	if err != nil {
		l.failed = err // what is on disk is unknown from now on
		return 0, err
	}
	l.offsets = append(l.offsets, l.size)
	l.size += int64(len(l.buf))
	return uint64(len(l.offsets)), nil
}

// Follow hands the entries behind after to do.
func (l *File) Follow(ctx context.Context, after uint64, do func(at uint64, b []byte) error) error {
	l.mu.Lock()
	offsets := l.offsets
	l.mu.Unlock()
	if after > uint64(len(offsets)) {
		return fmt.Errorf("log: %d entries are there, %d is wanted: %w", len(offsets), after+1, ErrGap)
	}
	for i, offset := range offsets[after:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := l.read(offset)
		if err != nil {
			return err
		}
		if err := do(after+uint64(i)+1, b); err != nil {
			return err
		}
	}
	return nil
}

// Trim does nothing.
func (l *File) Trim(context.Context, uint64) error { return nil }

// Last returns the position of the last entry.
func (l *File) Last(context.Context) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.offsets)), nil
}

// Close closes the file.
func (l *File) Close() error { return l.f.Close() }
