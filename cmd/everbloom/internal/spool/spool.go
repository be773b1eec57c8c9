// Package spool keeps keys until it is known how many there are: in memory
// while they are few, then in a temporary file.
package spool

import (
	"bytes"
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

	// batchKeys are decoded and handed out together.
	batchKeys = 32 << 10

	// defaultRoom is in bytes.
	defaultRoom = 8 << 20
)

// Spool is a list of keys. The zero Spool is empty and ready for use.
type Spool struct {
	room    int      // bytes that stay in memory; 0 means defaultRoom
	memory  []byte   // keys behind those in the file
	file    *os.File // nil while memory suffices
	written int64    // bytes in the file
	named   bool     // the file has a name that must be removed
}

// Append adds keys at the end.
func (s *Spool) Append(keys []filter.Key) error {
	room := cmp.Or(s.room, defaultRoom)
	if s.memory == nil {
		s.memory = make([]byte, 0, room) // the system gives memory where it is written to
	}
	for _, k := range keys {
		if len(s.memory) == room {
			if err := s.flush(); err != nil {
				return fmt.Errorf("temporary file: %w", err)
			}
		}
		s.memory = binary.LittleEndian.AppendUint64(s.memory, uint64(k))
	}
	return nil
}

// Len returns the number of keys.
func (s *Spool) Len() uint64 { return uint64(s.written+int64(len(s.memory))) / keySize }

// Each calls use with all keys, in order, some at a time. The slices are valid
// during the call only.
func (s *Spool) Each(use func([]filter.Key) error) error {
	keys, buf := make([]filter.Key, batchKeys), make([]byte, batchKeys*keySize)
	all := io.MultiReader(io.NewSectionReader(s.file, 0, s.written), bytes.NewReader(s.memory))
	for left := s.Len(); left > 0; {
		n := int(min(left, batchKeys))
		if _, err := io.ReadFull(all, buf[:n*keySize]); err != nil {
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

// flush moves the keys from memory to the file. Where the system allows it the file loses
// its name at once, so that it goes away however the process ends.
func (s *Spool) flush() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "everbloom-*.keys"); err != nil {
			return err
		}
		s.named = os.Remove(s.file.Name()) != nil
	}
	if _, err := s.file.Write(s.memory); err != nil {
		return err
	}
	s.written += int64(len(s.memory))
	s.memory = s.memory[:0]
	return nil
}
