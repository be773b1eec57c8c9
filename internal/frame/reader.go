package frame

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
)

// Reader reads the payload of one frame. It never takes more from the source
// than the frame has. After an error of the source or a damaged chunk it only
// repeats that error.
type Reader struct {
	src    *source
	start  uint64 // offset of the header
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
// refused with filter.ErrPart: use Parts.
func Open(r io.Reader) (*Reader, error) {
	if r, ok := r.(*Reader); ok {
		return r, nil
	}
	f, err := openPart(&source{r: r})
	if err != nil {
		return nil, err
	}
	if h := f.header; h.Parts != 1 {
		return nil, wrong(filter.ErrPart, offPart, "header: part", partOf(h.Part, h.Parts), partOf(0, 1))
	}
	return f, nil
}

// OpenAs opens a frame of the given kind, in a format version up to newest, and
// returns its shape, which check has found to be in order.
func OpenAs[S any](src io.Reader, kind Kind, newest uint16, check func(S) error) (r *Reader, shape S, err error) {
	if r, err = Open(src); err != nil {
		return nil, shape, err
	}
	if err := r.expect(kind, newest); err != nil {
		return nil, shape, err
	}
	if err := r.fill(&shape); err != nil {
		return nil, shape, err
	}
	if err := check(shape); err != nil {
		return nil, shape, r.Corrupt("shape", err, nil)
	}
	return r, shape, nil
}

// expect checks that the frame is of the given kind, in a format version from 1 to
// newest.
func (r *Reader) expect(kind Kind, newest uint16) error {
	switch h := r.header; {
	case h.Kind != kind:
		return wrong(filter.ErrKind, r.start+offKind, "header: kind", h.Kind, kind)
	case h.Version == 0 || h.Version > newest:
		return wrong(filter.ErrVersion, r.start+offFormat, "header: kind format version", h.Version, between(1, uint64(newest)))
	}
	return nil
}

// openPart opens the frame that begins at the source's position.
func openPart(s *source) (*Reader, error) {
	start := s.off
	h, err := readHeader(s)
	if err != nil {
		return nil, err
	}
	return &Reader{src: s, start: start, header: h, left: h.Payload}, nil
}

// Header returns the frame's header. Its slices are shared: do not change them.
func (r *Reader) Header() Header { return r.header }

// Left returns how many bytes of the payload have not been read.
func (r *Reader) Left() uint64 { return r.left + uint64(len(r.chunk)) }

// Offset returns how many bytes of the source have been taken.
func (r *Reader) Offset() uint64 { return r.src.off }

// Corrupt returns a [filter.FormatError] that matches ErrCorrupt and names the offset
// that reading has come to. Kinds refuse with it what they have just read: value
// stands there, limit would be right. Both are shown as fmt shows them; limit may be
// nil.
func (r *Reader) Corrupt(field string, value, limit any) error {
	return corrupt(r.src.off-uint64(len(r.chunk)), field, value, limit)
}

// CheckSummary refuses the frame if what was read has another summary than the header.
func (r *Reader) CheckSummary(found Summary) error {
	if stored := r.header.Summary; stored != found {
		return r.Corrupt("summary", stored, found)
	}
	return nil
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
		return r.Corrupt("payload: bytes", r.Left(), len(p))
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
		err = r.src.full(b, r.chunkName())
	} else {
		r.buf, err = r.src.grow(r.buf, size, r.chunkName())
		b = r.buf
	}
	if err != nil {
		return 0, err
	}
	want := binary.LittleEndian.Uint32(r.head[8:])
	if sum := chunkSum(&r.head, b); sum != want {
		at := r.src.off - uint64(size) - sumSize
		return 0, corrupt(at, r.chunkName()+": crc32c", sumText(want), sumText(sum))
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
	if err := r.src.full(r.head[:], r.chunkName()); err != nil {
		return 0, err
	}
	if number := binary.LittleEndian.Uint32(r.head[0:]); uint64(number) != r.next {
		return 0, corrupt(start, r.chunkName()+": number", number, r.next)
	}
	size := binary.LittleEndian.Uint32(r.head[4:])
	if limit := min(r.left, maxChunk); size == 0 || uint64(size) > limit {
		return 0, corrupt(start+4, r.chunkName()+": length", size, between(1, limit))
	}
	return int(size), nil
}

func (r *Reader) chunkName() string { return "chunk " + strconv.FormatUint(r.next, 10) }

// sumText returns a checksum as it is usually shown.
func sumText(sum uint32) string { return fmt.Sprintf("%08x", sum) }

// Close reports whether the frame was read to its end and, if it is the last
// part, whether the source ends there, too: bytes left over on either side
// mean that the content is not what the header says. It does not close the
// source. Closing twice gives the same answer.
func (r *Reader) Close() error {
	switch {
	case r.err != nil || r.closed:
	case r.Left() > 0:
		r.err = r.Corrupt("payload: bytes", r.header.Payload, r.header.Payload-r.Left())
	case r.header.Part == r.header.Parts-1:
		r.err = r.src.end()
	}
	r.closed = true
	return r.err
}
