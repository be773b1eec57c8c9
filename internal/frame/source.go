package frame

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// source counts the bytes taken from a reader, so that every error can name
// its offset. It takes what is asked for and never reads ahead.
type source struct {
	r    io.Reader
	off  uint64 // from where the first frame was opened
	open bool   // more may follow the last frame
}

// full fills p, which is the field or a part of it.
func (s *source) full(p []byte, field string) error {
	n, err := io.ReadFull(s.r, p)
	s.off += uint64(n)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return wrong(errTruncated, s.off, field, "truncated", nil)
	}
	return fmt.Errorf("filter: %s: read at offset %d: %w", field, s.off, err)
}

// grow reads the n bytes of a field into buf, which it replaces by larger ones as
// bytes arrive: a length that is only claimed costs no memory.
func (s *source) grow(buf []byte, n int, field string) ([]byte, error) {
	const first = 4 << 10
	buf = buf[:0]
	for len(buf) < n {
		have := len(buf)
		step := min(n-have, max(first, have, cap(buf)-have))
		buf = slices.Grow(buf, step)[:have+step]
		if err := s.full(buf[have:], field); err != nil {
			return buf[:0], err
		}
	}
	return buf, nil
}

// end reports an error unless nothing follows, where nothing may.
func (s *source) end() error {
	if s.open {
		return nil
	}
	var b [1]byte
	switch n, err := io.ReadFull(s.r, b[:]); {
	case n > 0:
		return corrupt(s.off, "end", "more bytes after the last chunk", nil)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("filter: end: read at offset %d: %w", s.off, err)
	}
	return nil
}

// holds reports whether the reader is known to have n more bytes. False may
// mean that it does not say.
func (s *source) holds(n uint64) bool {
	switch r := s.r.(type) {
	case interface{ Len() int }:
		return n <= uint64(max(r.Len(), 0))
	case interface {
		io.Seeker
		Stat() (fs.FileInfo, error)
	}:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
		pos, err := r.Seek(0, io.SeekCurrent)
		return err == nil && pos <= info.Size() && n <= uint64(info.Size()-pos)
	}
	return false
}
