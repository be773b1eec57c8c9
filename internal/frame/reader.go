package frame

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Reader reads the payload of one frame. It never takes more from the source
// than the frame has. After an error of the source or a damaged chunk it only
// repeats that error.
type Reader struct {
	src    *source
	header Header
	left   uint64 // payload bytes not yet taken from the source
	next   uint64 // number of the next chunk; 64 bits, so that it cannot wrap
	chunk  []byte // verified bytes not yet handed out, inside buf
	buf    []byte
	err    error
	closed bool
	head   [headSize]byte
}

// Open reads the header of the one frame that r holds. If r already is a
// *Reader it is returned as it is, so that one function can look at the header
// and leave the rest to another. A frame that is one part of several is
// refused with ErrParts: use Parts.
func Open(r io.Reader) (*Reader, error) {
	if r, ok := r.(*Reader); ok {
		return r, nil
	}
	f, err := openPart(&source{r: r})
	if err != nil {
		return nil, err
	}
	if h := f.header; h.Parts != 1 {
		return nil, fmt.Errorf("frame: part: %d of %d, want 0 of 1: %w", h.Part, h.Parts, ErrParts)
	}
	return f, nil
}

// OpenAs opens a frame of the given kind, in a format version up to newest, and
// returns its shape, which check has found to be in order.
func OpenAs[S any](src io.Reader, kind Kind, newest uint16, check func(S) error) (r *Reader, shape S, err error) {
	if r, err = Open(src); err != nil {
		return nil, shape, err
	}
	if err := r.Header().Expect(kind, newest); err != nil {
		return nil, shape, err
	}
	if err := r.Header().Fill(&shape); err != nil {
		return nil, shape, err
	}
	if err := check(shape); err != nil {
		return nil, shape, r.Corruptf("shape: %v", err)
	}
	return r, shape, nil
}

// ReadHeader reads the header that r begins with, whatever part it is, and
// nothing after it.
func ReadHeader(r io.Reader) (Header, error) {
	if r, ok := r.(*Reader); ok {
		return r.header, nil
	}
	return readHeader(&source{r: r})
}

// openPart opens the frame that begins at the source's position.
func openPart(s *source) (*Reader, error) {
	h, err := readHeader(s)
	if err != nil {
		return nil, err
	}
	return &Reader{src: s, header: h, left: h.Payload}, nil
}

// Header returns the frame's header. Its slices are shared: do not change them.
func (r *Reader) Header() Header { return r.header }

// Left returns how many bytes of the payload have not been read.
func (r *Reader) Left() uint64 { return r.left + uint64(len(r.chunk)) }

// Offset returns how many bytes of the source have been taken.
func (r *Reader) Offset() uint64 { return r.src.off }

// Corruptf returns an error that matches ErrCorrupt and names the offset that
// reading has come to. Kinds use it to refuse what they have just read.
func (r *Reader) Corruptf(format string, args ...any) error {
	return corruptf(r.src.off-uint64(len(r.chunk)), format, args...)
}

// Read reads payload bytes, all of them from chunks whose checksum was
// verified, and returns io.EOF after the last. As io.Reader allows, it may use
// the rest of p as scratch space.
func (r *Reader) Read(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case len(r.chunk) > 0:
	case r.err != nil:
		return 0, r.err
	case r.left == 0:
		return 0, io.EOF
	default:
		var n int
		if n, r.err = r.readChunk(p); n > 0 || r.err != nil {
			return n, r.err
		}
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

// ReadFull fills p from the payload. A payload that is too short for that
// matches ErrCorrupt.
func (r *Reader) ReadFull(p []byte) error {
	if r.err == nil && uint64(len(p)) > r.Left() {
		return r.Corruptf("payload: %d bytes wanted, limit %d", len(p), r.Left())
	}
	_, err := io.ReadFull(r, p)
	return err
}

// readChunk takes the next chunk from the source and verifies it. A chunk that
// fits goes straight into p, and n is its length; any other goes into the
// Reader's own buffer, and n is 0.
func (r *Reader) readChunk(p []byte) (n int, err error) {
	size, err := r.readHead()
	if err != nil {
		return 0, err
	}
	var b []byte
	if size <= len(p) {
		b, n = p[:size], size
		err = r.src.full(b)
	} else {
		r.buf, err = r.src.grow(r.buf, size)
		b = r.buf
	}
	if err != nil {
		return 0, fmt.Errorf("frame: chunk %d: %w", r.next, err)
	}
	want := binary.LittleEndian.Uint32(r.head[8:])
	if sum := chunkSum(&r.head, b); sum != want {
		at := r.src.off - uint64(size) - sumSize
		return 0, corruptf(at, "chunk %d: crc32c: %08x, want %08x", r.next, sum, want)
	}
	if n == 0 {
		r.chunk = b
	}
	r.left -= uint64(size)
	r.next++
	return n, nil
}

// readHead takes a chunk's head from the source and returns the length it
// claims, which is within the limits but not yet verified.
func (r *Reader) readHead() (int, error) {
	start := r.src.off
	if err := r.src.full(r.head[:]); err != nil {
		return 0, fmt.Errorf("frame: chunk %d: %w", r.next, err)
	}
	if number := binary.LittleEndian.Uint32(r.head[0:]); uint64(number) != r.next {
		return 0, corruptf(start, "chunk %d: number: %d, want %d", r.next, number, r.next)
	}
	size := binary.LittleEndian.Uint32(r.head[4:])
	if limit := min(r.left, maxChunk); size == 0 || uint64(size) > limit {
		return 0, corruptf(start+4, "chunk %d: length: %d, limits 1 and %d", r.next, size, limit)
	}
	return int(size), nil
}

// Close reports whether the frame was read to its end and, if it is the last
// part, whether the source ends there, too: bytes left over on either side
// mean that the content is not what the header says. It does not close the
// source. Closing twice gives the same answer.
func (r *Reader) Close() error {
	switch {
	case r.err != nil || r.closed:
	case r.Left() > 0:
		r.err = r.Corruptf("payload: %d bytes not used of %d", r.Left(), r.header.Payload)
	case r.header.Part == r.header.Parts-1:
		r.err = r.src.end()
	}
	r.closed = true
	return r.err
}
