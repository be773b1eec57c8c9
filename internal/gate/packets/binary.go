package packets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// recordBytes is the length of a record of the binary form.
const recordBytes = 8

// BinaryReader reads the binary form.
type BinaryReader struct {
	r      io.Reader
	buffer []byte
	i, n   int // what is left of the buffer
	number uint64
	word   [1]uint32
}

// NewBinaryReader returns a reader of records.
func NewBinaryReader(r io.Reader) *BinaryReader {
	return &BinaryReader{r: r, buffer: make([]byte, 1<<16)}
}

// Read fills in the next packet. A fragment at the end is an error that names its
// offset.
func (b *BinaryReader) Read(p *Packet) error {
	if b.n-b.i < recordBytes {
		if err := b.fill(); err != nil {
			return err
		}
	}
	record := b.buffer[b.i : b.i+recordBytes : b.n]
	b.i += recordBytes
	b.number++
	b.word[0] = binary.BigEndian.Uint32(record[4:])
	*p = Packet{Src: netip.AddrFrom4([4]byte(record[:4])), Words: b.word[:], Number: b.number}
	return nil
}

// fill gets more, so that there is a record at least.
func (b *BinaryReader) fill() error {
	b.n = copy(b.buffer, b.buffer[b.i:b.n])
	b.i = 0
	n, err := io.ReadAtLeast(b.r, b.buffer[b.n:], recordBytes-b.n)
	b.n += n
	switch {
	case b.n >= recordBytes:
		return nil
	case b.n == 0 && errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%d bytes, a record has %d: %w", b.n, recordBytes, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("packets: packet %d at offset %d: %w", b.number+1, recordBytes*b.number, err)
}

// AppendBinary appends the record of a packet. The source must be an IPv4 address.
func AppendBinary(to []byte, src netip.Addr, word uint32) []byte {
	a := src.As4()
	return binary.BigEndian.AppendUint32(append(to, a[:]...), word)
}
