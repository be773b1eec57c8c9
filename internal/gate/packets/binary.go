package packets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// recordBytes is the length of a record of the binary format.
const recordBytes = 8

// binaryReader reads the binary format.
type binaryReader struct {
	r      io.Reader
	buffer []byte
	i, n   int // what is left of the buffer
	number uint64
	word   [1]uint32
}

func newBinary(r io.Reader) *binaryReader {
	return &binaryReader{r: r, buffer: make([]byte, 1<<16)}
}

// Read fills in the next packet. A part of a record at the end is an error that names
// its offset.
func (b *binaryReader) Read(p *Packet) error {
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

// fill reads at least one record into the buffer.
func (b *binaryReader) fill() error {
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
	return fault.In("packets", "packet %d at offset %d: %w", b.number+1, recordBytes*b.number, err)
}

// AppendBinary appends the record of a packet. The source must be an IPv4 address.
func AppendBinary(to []byte, src netip.Addr, word uint32) []byte {
	a := src.As4()
	return binary.BigEndian.AppendUint32(append(to, a[:]...), word)
}
