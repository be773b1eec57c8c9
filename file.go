package everbloom

import (
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/kinds"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// WriteTo writes the set to w, hash included. Each shard is copied in memory
// under its lock and written without it, so that a slow w makes nobody wait.
func (s *Set) WriteTo(w io.Writer) (int64, error) {
	return s.write(w, func(h *shard, write func(io.WriterTo) error) error {
		image, err := h.snapshot()
		if err != nil {
			return err
		}
		return write(image)
	})
}

func (h *shard) snapshot() (io.WriterTo, error) {
	h.rlock()
	defer h.runlock()
	return filter.Snapshot(h.filter)
}

// Save writes the set to the named file, hash and secret included. The file is
// replaced as a whole or not at all: after an error the old one is still there,
// unless the error says that only its name may not be on the disk. Writers of a
// shard wait while its bytes are handed to the system (there is no copy in
// memory), and readers that come after a waiting writer; nobody waits for the
// disk. A file with a secret is readable by its owner only; any other keeps the
// permissions that it had.
func (s *Set) Save(path string) error {
	return replaceFile(path, s.hash.Secret(), func(w io.Writer) error {
		_, err := s.write(w, func(h *shard, write func(io.WriterTo) error) error {
			h.rlock()
			defer h.runlock()
			image, err := view(h.filter)
			if err != nil {
				return err
			}
			return write(image)
		})
		return err
	})
}

// view returns the stored form of f, without a copy where f can do that.
func view(f filter.Filter) (io.WriterTo, error) {
	_, concurrent := f.(filter.Concurrent) // may change while it is written: nobody holds a lock
	if v, ok := f.(interface{ Image() io.WriterTo }); ok && !concurrent {
		return v.Image(), nil
	}
	return filter.Snapshot(f)
}

// write writes all shards, each through hold, which takes what locks it wants.
func (s *Set) write(w io.Writer, hold func(h *shard, write func(io.WriterTo) error) error) (total int64, err error) {
	hash, err := s.hash.MarshalBinary()
	if err != nil {
		return 0, err
	}
	for i := range s.shards {
		err := hold(&s.shards[i], func(image io.WriterTo) error {
			stamped, ok := image.(*frame.Image)
			if !ok {
				return fmt.Errorf("everbloom: %T has a file format of its own", s.shards[i].filter)
			}
			stamped.Stamp(hash, uint16(i), uint16(len(s.shards)))
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

// Open reads the set that Save wrote to the named file.
func Open(path string) (*Set, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("everbloom: %w", err)
	}
	defer func() { _ = file.Close() }()
	s, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("everbloom: open %s: %w", path, err)
	}
	return s, nil
}

// Read reads the set that WriteTo wrote. Nothing may follow it in r.
func Read(r io.Reader) (*Set, error) {
	s, err := read(r)
	if err != nil {
		return nil, fmt.Errorf("everbloom: read: %w", err)
	}
	return s, nil
}

func read(r io.Reader) (*Set, error) {
	var (
		hash    filter.Hash
		filters []filter.Filter
	)
	for part, err := range parts(r) {
		if err != nil {
			return nil, err
		}
		if hash, err = hashOf(part.Header()); err != nil {
			return nil, err
		}
		f, err := kinds.Read(part)
		if err != nil {
			return nil, err
		}
		filters = append(filters, f)
	}
	return newSet(hash, filters), nil
}

// parts opens the frames of a set, which must also agree on the shape: merging
// relies on shards that are all compatible or all not.
func parts(r io.Reader) iter.Seq2[*frame.Reader, error] {
	return func(yield func(*frame.Reader, error) bool) {
		var first frame.Shape
		for part, err := range frame.Parts(r) {
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
		return part.Corruptf("header: shape: %v, want %v as in part 0", h.Shape, *first)
	}
	return nil
}
