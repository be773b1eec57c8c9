//go:build !linux || purego

package mem

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// piece is a copy of a part of a file in heap memory.
type piece struct {
	block []uint64
	at    int64
}

// newPiece allocates and reads a part of a file. The memory comes first, as it is what a mistyped size lacks.
func newPiece(file *os.File, at, bytes int64) (piece, error) {
	block, err := Words(uint64(bytes / wordBytes))
	if err != nil {
		return piece{}, err
	}
	if err := reserveByWriting(file, at, bytes); err != nil {
		return piece{}, err
	}
	p := piece{block: block, at: at}
	return p, p.each(func(buf []byte, at int64, words []uint64) error {
		if _, err := file.ReadAt(buf, at); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for i := range words {
			words[i] = binary.NativeEndian.Uint64(buf[i*wordBytes:])
		}
		return nil
	})
}

// checkPiece asks about the memory only; whether the disk is full shows when it is written to.
func checkPiece(_ *os.File, _, bytes int64) error {
	return Heap{}.canGive(uint64(bytes / wordBytes))
}

func (p piece) words() []uint64 { return p.block }

// flush writes the words to their place.
func (p piece) flush(file *os.File) error {
	return p.each(func(buf []byte, at int64, words []uint64) error {
		for i, w := range words {
			binary.NativeEndian.PutUint64(buf[i*wordBytes:], w)
		}
		_, err := file.WriteAt(buf, at)
		return err
	})
}

// each walks the granules of the piece with a buffer of that size. A piece is made of whole granules.
func (p piece) each(do func(buf []byte, at int64, words []uint64) error) error {
	const step = granule / wordBytes
	buf := make([]byte, granule)
	for i := 0; i < len(p.block); i += step {
		if err := do(buf, p.at+int64(i)*wordBytes, p.block[i:i+step]); err != nil {
			return err
		}
	}
	return nil
}

// release leaves the words to the collector.
func (p piece) release() error { return nil }
