// Package spool keeps keys until it is known how many there are: in memory
// while they are few, then in a temporary file.
package spool

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/everbloom-go/everbloom/filter"
)

const (
	keySize = 8

	// defaultRoom are the keys that fill 8 MiB.
	defaultRoom = 8 << 20 / keySize
)

// Spool is a list of keys. The zero Spool is empty and ready for use.
type Spool struct {
	room    int          // keys that stay in memory; 0 means defaultRoom
	keys    []filter.Key // not in the file
	file    *os.File     // nil while memory suffices
	written uint64       // keys in the file
	named   bool         // the file has a name that must be removed
	buf     []byte
}

// Append adds keys at the end.
func (s *Spool) Append(keys []filter.Key) error {
	room := cmp.Or(s.room, defaultRoom)
	if s.keys == nil {
		s.keys = make([]filter.Key, 0, room) // the system gives memory where it is written to
	}
	for len(keys) > 0 {
		if len(s.keys) == room {
			if err := s.flush(); err != nil {
				return err
			}
		}
		n := min(len(keys), room-len(s.keys))
		s.keys = append(s.keys, keys[:n]...)
		keys = keys[n:]
	}
	return nil
}

// Len returns the number of keys.
func (s *Spool) Len() uint64 { return s.written + uint64(len(s.keys)) }

// Each calls use with all keys, in order, some at a time. The slices are valid
// during the call only.
func (s *Spool) Each(use func([]filter.Key) error) error {
	if s.file != nil {
		if err := s.eachWritten(use); err != nil {
			return err
		}
	}
	for keys := s.keys; len(keys) > 0; {
		n := min(len(keys), batchKeys)
		if err := use(keys[:n]); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// Close removes the temporary file, if there is one.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	*s = Spool{}
	return err
}

// create makes the temporary file. Where the system allows it the file loses its
// name at once, so that it goes away however the process ends.
func (s *Spool) create() (err error) {
	if s.file, err = os.CreateTemp("", "everbloom-*.keys"); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	s.named = os.Remove(s.file.Name()) != nil
	return nil
}

// batchKeys are encoded, decoded and handed out together.
const batchKeys = 32 << 10

// flush moves the keys from memory to the file.
func (s *Spool) flush() error {
	if s.file == nil {
		if err := s.create(); err != nil {
			return err
		}
	}
	for keys := s.keys; len(keys) > 0; {
		n := min(len(keys), batchKeys)
		s.buf = s.buf[:0]
		for _, k := range keys[:n] {
			s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(k))
		}
		if _, err := s.file.Write(s.buf); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		keys = keys[n:]
	}
	s.written += uint64(len(s.keys))
	s.keys = s.keys[:0]
	return nil
}

// eachWritten calls use with the keys in the file.
func (s *Spool) eachWritten(use func([]filter.Key) error) error {
	keys, buf := make([]filter.Key, batchKeys), make([]byte, batchKeys*keySize)
	r := io.NewSectionReader(s.file, 0, int64(s.written)*keySize)
	for left := s.written; left > 0; {
		n := int(min(left, batchKeys))
		if _, err := io.ReadFull(r, buf[:n*keySize]); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
		for i := range keys[:n] {
			keys[i] = filter.Key(binary.LittleEndian.Uint64(buf[i*keySize:]))
		}
		if err := use(keys[:n]); err != nil {
			return err
		}
		left -= uint64(n)
	}
	return nil
}
