package frame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// The header of a frame, envelope version 1. All numbers are little endian,
// lengths stand before what they measure. Do not change: files exist.
//
//	 0  magic                 8   89 'E' 'V' 'B' 'L' 0D 0A 1A
//	 8  envelope version      2   1
//	10  kind                  2
//	12  kind format version   2
//	14  reserved              2   0
//	16  part                  2   below parts
//	18  parts                 2   at least 1
//	20  header length         4   up to and with the CRC, at most 4096
//	24  hash length           1   at most 64
//	    hash                  …
//	    fields of the shape   1   at most 32, and for each of them
//	      name length         1     1 to 32
//	      name                …     a-z 0-9
//	      type                1     'u' unsigned integer, 'f' IEEE 754 double
//	      value               8
//	    keys                  8
//	    capacity              8
//	    set bits              8
//	    fast bits             8
//	    slow bits             8
//	    payload length        8   at most 2^50
//	    header CRC32C         4   of all bytes above
//
// The magic is built like PNG's: the first byte is lost where eight bits are
// not safe, the line ends are changed by a copy in text mode, and 1A stops the
// listing of the file on some terminals.
const magic = "\x89EVBL\r\n\x1a"

const (
	offVersion  = 8
	offKind     = 10
	offFormat   = 12
	offReserved = 14
	offPart     = 16
	offParts    = 18
	offLength   = 20
	prefixSize  = 24 // up to and with the header length

	// HashOffset is where the hash begins.
	HashOffset = prefixSize + 1

	sumSize   = 4             // the CRC
	tailSize  = 6*8 + sumSize // summary, payload length and CRC
	minHeader = prefixSize + 2 + tailSize
)

// Types of values in a shape. Never reused.
const (
	typeUint  = 'u'
	typeFloat = 'f'
)

// castagnoli is the table of CRC32C, which processors compute by themselves.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendTo appends the encoded header to b.
func (h Header) appendTo(b []byte) []byte {
	start := len(b)
	b = append(b, magic...)
	for _, v := range []uint16{envelopeVersion, uint16(h.Kind), h.Version, 0, h.Part, h.parts()} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(h.size()))
	b = append(b, byte(len(h.Hash)))
	b = append(b, h.Hash...)
	b = h.Shape.appendTo(b)
	s := h.Summary
	for _, v := range []uint64{s.Keys, s.Capacity, s.SetBits, s.FastBits, s.SlowBits, h.Payload} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

func (s Shape) appendTo(b []byte) []byte {
	b = append(b, byte(len(s)))
	for _, f := range s {
		b = append(b, byte(len(f.Name)))
		b = append(b, f.Name...)
		b = append(b, f.Value.tag())
		b = binary.LittleEndian.AppendUint64(b, f.Value.bits)
	}
	return b
}

// tag is the byte that stands for v's type.
func (v Value) tag() byte {
	if v.float {
		return typeFloat
	}
	return typeUint
}

// size is the number of bytes that appendTo appends.
func (h Header) size() int {
	n := minHeader + len(h.Hash)
	for _, f := range h.Shape {
		n += 1 + len(f.Name) + 1 + 8
	}
	return n
}

// encode returns the encoded header. It is an error if the reader would refuse it, or
// take it for another one.
func (h Header) encode() ([]byte, error) {
	b := h.appendTo(make([]byte, 0, h.size()))
	got, err := readHeader(&source{r: bytes.NewReader(b)})
	if err != nil {
		return nil, errors.New("frame: write: " + err.Error()) // no file is corrupt
	}
	if got.String() != h.String() { // a length does not fit into its byte
		return nil, fmt.Errorf("frame: write: header: %v, is read as %v", h, got)
	}
	return b, nil
}
