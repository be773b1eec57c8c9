package frame

import (
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// Image is a frame about to be written: what a snapshot of a filter is. It may
// be written several times, as long as Payload gives the same bytes each time.
type Image struct {
	Header Header

	// Payload writes exactly Header.Payload bytes. It may be nil if there
	// are none.
	Payload func(w io.Writer) error

	words   [][]uint64 // what Payload writes, of an image that [Words] returned
	failure error
}

// Words returns the image of a filter that is stored as words, one slice after the other,
// as they are when it is written.
func Words(kind Kind, version uint16, shape any, sum Summary, words ...[]uint64) *Image {
	m := &Image{Header: Header{Kind: kind, Version: version, Shape: ShapeOf(shape), Summary: sum}, words: words}
	for _, part := range words {
		m.Header.Payload += 8 * uint64(len(part))
	}
	m.Payload = m.writeAll
	return m
}

func (m *Image) writeAll(w io.Writer) error {
	for _, part := range m.words {
		if err := WriteWords(w, part); err != nil {
			return err
		}
	}
	return nil
}

// Copied copies the words of an image that [Words] returned, which is a snapshot then. If
// there is no memory, writing it says so.
func (m *Image) Copied() *Image {
	for i, part := range m.words {
		words, err := mem.Clone(part)
		if err != nil {
			return Failed(fmt.Errorf("snapshot: %w: %w", filter.ErrStorage, err))
		}
		m.words[i] = words
	}
	return m
}

// IsWords reports whether Words returned the image.
func (m *Image) IsWords() bool { return m.words != nil }

// Room is memory for copies of words.
type Room [][]uint64

// pageWords is how many words the smallest page of memory has.
const pageWords = 512

// Room returns memory for a copy of the words of an image that [Words] returned. All of it was
// written to once: the system gives memory page by page when that happens, which takes several
// times as long as copying.
func (m *Image) Room() (Room, error) {
	room := make(Room, len(m.words))
	for i, part := range m.words {
		words, err := mem.Words(uint64(len(part)))
		if err != nil {
			return nil, fmt.Errorf("snapshot: %w: %w", filter.ErrStorage, err)
		}
		for at := 0; at < len(words); at += pageWords {
			words[at] = 1
		}
		room[i] = words
	}
	return room, nil
}

// CopiedTo is Copied into room for an image of the same filter. It takes other memory if the
// filter has grown since.
func (m *Image) CopiedTo(room Room) *Image {
	for i, part := range m.words {
		if len(room) != len(m.words) || len(room[i]) != len(part) {
			return m.Copied()
		}
	}
	for i, part := range m.words {
		copy(room[i], part)
		m.words[i] = room[i]
	}
	return m
}

// Failed returns an image that cannot be written, for filters that could not be
// captured: WriteTo writes nothing and returns err.
func Failed(err error) *Image { return &Image{failure: err} }

var _ io.WriterTo = (*Image)(nil)

// Stamp adds what the owner of the filter knows and the filter does not: how
// keys were hashed, and which part of a set this is. A plain file is part 0
// of 1. The slice is kept, not copied.
func (m *Image) Stamp(hash []byte, part, parts uint16) {
	m.Header.Hash, m.Header.Part, m.Header.Parts = hash, part, parts
}

// WriteTo writes the frame. It writes nothing if the header is not valid, and
// fails if the payload has another length than the header says.
func (m *Image) WriteTo(w io.Writer) (int64, error) {
	if m.failure != nil {
		return 0, m.failure
	}
	header, err := m.Header.encode()
	if err != nil {
		return 0, err
	}
	c := &chunkWriter{w: w, left: m.Header.Payload}
	c.raw(header)
	if c.err == nil {
		m.writePayload(c)
	}
	return c.n, c.err
}

// writePayload leaves the first error in c. An error that c met already is the
// cause of what the payload function returns, and says more.
func (m *Image) writePayload(c *chunkWriter) {
	var err error
	if m.Payload != nil {
		err = m.Payload(c)
	}
	switch {
	case c.err != nil:
	case err != nil:
		c.err = fmt.Errorf("frame: payload: %w", err)
	case c.left > 0:
		c.err = fmt.Errorf("frame: payload: %d bytes missing of %d", c.left, m.Header.Payload)
	}
}
