package frame

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// Alloc provides n zero words, or refuses. Readers get their memory through
// it, so that the caller decides where large blocks live and how large they
// may be.
type Alloc func(n uint64) ([]uint64, error)

const (
	firstWords    = 512     // allocated before anything has arrived: 4 KiB
	portableWords = 1 << 10 // converted at a time where words cannot be viewed as bytes
)

// WriteWords writes words in little-endian order. Where memory has that order
// already they are not copied.
func WriteWords(w io.Writer, words []uint64) error {
	if b, ok := view(words); ok {
		_, err := w.Write(b)
		return err
	}
	return writePortable(w, words)
}

func writePortable(w io.Writer, words []uint64) error {
	var buf []byte
	for part := range slices.Chunk(words, portableWords) {
		buf, _ = binary.Append(buf[:0], binary.LittleEndian, part) // fails for other types only
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// ReadWords reads n words of the payload into memory from alloc. It asks for
// all of it at once if the source is known to hold that many bytes; otherwise
// it begins small and doubles as verified bytes arrive. The result has exactly
// n words either way.
func (r *Reader) ReadWords(n uint64, alloc Alloc) ([]uint64, error) {
	if r.err != nil || n == 0 {
		return nil, r.err
	}
	if limit := r.Left() / 8; n > limit {
		return nil, r.Corrupt("payload: words", limit, n)
	}
	size := n
	if outstanding := n*8 - min(n*8, uint64(len(r.chunk))); !r.src.holds(outstanding) {
		size = min(n, firstWords)
	}
	var words []uint64
	for {
		bigger, err := alloc(size)
		if err != nil {
			return nil, fmt.Errorf("filter: payload: memory for %d of %d words: %w: %w", size, n, filter.ErrStorage, err)
		}
		bigger = bigger[:size:size]
		if err := r.ReadWordsInto(bigger[copy(bigger, words):]); err != nil {
			return nil, err
		}
		if words = bigger; size == n {
			return words, nil
		}
		size = min(n, 2*size)
	}
}

// ReadRest reads the rest of the payload, which must be n words.
func (r *Reader) ReadRest(n uint64, alloc Alloc) ([]uint64, error) {
	if left := r.Left(); left != 8*n {
		return nil, r.Corrupt("payload: bytes", left, 8*n)
	}
	return r.ReadWords(n, alloc)
}

// ReadWordsInto fills dst from the payload. After an error the content of dst
// is arbitrary.
func (r *Reader) ReadWordsInto(dst []uint64) error {
	if b, ok := view(dst); ok {
		return r.ReadFull(b)
	}
	return r.readPortable(dst)
}

func (r *Reader) readPortable(dst []uint64) error {
	buf := make([]byte, 8*min(len(dst), portableWords))
	for part := range slices.Chunk(dst, portableWords) {
		if err := r.ReadFull(buf[:8*len(part)]); err != nil {
			return err
		}
		_, _ = binary.Decode(buf, binary.LittleEndian, part) // there are enough bytes
	}
	return nil
}
