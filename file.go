package everbloom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// WriteTo writes the set to w, hash included. Each shard is copied in memory
// under its lock and written without it, so that no caller waits for a slow w.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	return s.shards.write(w, s.hash, func(sh *shard, write func(io.WriterTo) error) error {
		image, err := sh.snapshot()
		if err != nil {
			return err
		}
		return write(image)
	})
}

func (sh *shard) snapshot() (io.WriterTo, error) {
	sh.freeze()
	defer sh.thaw()
	return filter.Snapshot(sh.filter)
}

// Save writes the set to the named file, hash and secret included. The file is
// replaced as a whole or not at all: after an error the old one is still there,
// unless the error says that only its name may not be on the disk. Writers of a
// shard wait while its bytes are handed to the system (there is no copy in
// memory), and readers that come after a waiting writer; none of them waits for the
// disk. A file with a secret is readable by its owner only; any other keeps the
// permissions that it had. While another process or goroutine is in Update of the
// file, Save waits with the last step: see [Set.SaveContext].
func (s *Set) Save(path string) error { return s.SaveContext(context.Background(), path) }

// saver returns a function that writes what WriteTo writes, without a copy in memory:
// each shard is locked while its bytes are handed to w.
func (s shards) saver(hash filter.Hash) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := s.write(w, hash, func(sh *shard, write func(io.WriterTo) error) error {
			sh.freeze()
			defer sh.thaw()
			image, err := view(sh.filter)
			if err != nil {
				return err
			}
			return write(image)
		})
		return err
	}
}

// An imager has a stored form that is no copy: the filter must not change until it is
// written.
type imager interface{ Image() io.WriterTo }

// view returns the stored form of f, without a copy where f can do that.
func view(f filter.Filter) (io.WriterTo, error) {
	_, concurrent := f.(filter.Concurrent) // may change while it is written: no lock is held
	if v, ok := f.(imager); ok && !concurrent {
		return v.Image(), nil
	}
	return filter.Snapshot(f)
}

// write writes all shards, each through hold, which takes the locks.
func (s shards) write(w io.Writer, hash filter.Hash, hold func(sh *shard, write func(io.WriterTo) error) error) (total int64, err error) {
	if len(s) == 0 {
		return 0, errZero
	}
	encoded, err := hash.MarshalBinary()
	if err != nil {
		return 0, err
	}
	for i := range s {
		err := hold(&s[i], func(image io.WriterTo) error {
			stamped, ok := image.(*frame.Image)
			if !ok {
				return fmt.Errorf("everbloom: %T has a file format of its own", s[i].filter)
			}
			stamped.Stamp(encoded, uint16(i), uint16(len(s)))
			n, err := stamped.WriteTo(w)
			total += n
			return err
		})
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// AppendBinary appends what WriteTo writes to b.
func (s *Set) AppendBinary(b []byte) ([]byte, error) {
	buffer := bytes.NewBuffer(b)
	_, err := s.WriteTo(buffer)
	return buffer.Bytes(), err
}

// MarshalBinary returns what WriteTo writes.
func (s *Set) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// UnmarshalBinary makes s the set that MarshalBinary wrote. After an error s is what
// it was. It must not run beside any other method.
func (s *Set) UnmarshalBinary(data []byte) error {
	return replaceSet(s, frame.Parts(bytes.NewReader(data)))
}

// ReadFrom makes s the set that WriteTo wrote to r, and returns how many bytes that
// took; what follows is left in r. After an error s is what it was. It must not run
// beside any other method.
func (s *Set) ReadFrom(r io.Reader) (n int64, err error) {
	if r == nil {
		return 0, errNoReader
	}
	err = replaceSet(s, func(yield func(*frame.Reader, error) bool) {
		for part, err := range frame.Prefix(r) {
			more := yield(part, err)
			if part != nil {
				n = int64(part.Offset())
			}
			if !more {
				return
			}
		}
	})
	return n, err
}

// replaceSet makes s the set whose frames are given.
func replaceSet(s *Set, frames iter.Seq2[*frame.Reader, error]) error {
	hash, filters, err := read(frames, "")
	if err != nil {
		return fmt.Errorf("everbloom: read: %w", err)
	}
	s.init(hash, filters)
	return nil
}

// Open reads the set that Save wrote to the named file. Nothing may follow it there.
func Open(path string) (*Set, error) { return OpenSlow(path, "") }

// OpenSlow is Open with the slow memory in a new file: see [Needs].SlowFile.
func OpenSlow(path, slowFile string) (*Set, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("everbloom: %w", err)
	}
	defer func() { _ = file.Close() }()
	hash, filters, err := read(frame.Parts(file), slowFile)
	if err != nil {
		return nil, fmt.Errorf("everbloom: open %s: %w", path, err)
	}
	return newSet(hash, filters), nil
}

// Read reads the set that WriteTo wrote. What follows it is left in r.
func Read(r io.Reader) (*Set, error) {
	s := new(Set)
	if _, err := s.ReadFrom(r); err != nil {
		return nil, err
	}
	return s, nil
}

var errNoReader = errors.New("everbloom: read: there is no reader")

// read reads the filters of a set, with their slow memory in files of that name if
// there is one.
func read(frames iter.Seq2[*frame.Reader, error], slow string) (hash filter.Hash, filters []filter.Filter, err error) {
	defer func() {
		if err != nil {
			closeAll(filters)
		}
	}()
	for part, err := range parts(frames) {
		if err != nil {
			return hash, filters, err
		}
		if hash, err = hashOf(part.Header()); err != nil {
			return hash, filters, err
		}
		h := part.Header()
		f, err := kinds.ReadSlow(part, slowFile(slow, int(h.Part), int(h.Parts)))
		if err != nil {
			return hash, filters, err
		}
		filters = append(filters, f)
	}
	return hash, filters, nil
}

// parts passes on the frames of a set, which must also agree on the shape: merging
// relies on shards that are all compatible or all not.
func parts(frames iter.Seq2[*frame.Reader, error]) iter.Seq2[*frame.Reader, error] {
	return func(yield func(*frame.Reader, error) bool) {
		var first frame.Shape
		for part, err := range frames {
			if err == nil {
				err = sameShape(part, &first)
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
	}
}

// sameShape compares the shape of a part with that of the first, which it
// stores when it meets it.
func sameShape(part *frame.Reader, first *frame.Shape) error {
	h := part.Header()
	if h.Part == 0 {
		*first = h.Shape
	}
	if !slices.Equal(h.Shape, *first) {
		return part.Corrupt("header: shape", h.Shape, *first)
	}
	return nil
}
