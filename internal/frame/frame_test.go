package frame

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"reflect"
	"testing"
)

// geometry is a shape as kinds have them.
type geometry struct {
	Bits   uint64
	Hashes int
	FPR    float64
}

// sample is the image that the golden files were made from.
func sample(payload []byte) *Image {
	return &Image{
		Header: Header{
			Kind: 7, Version: 3, Parts: 1,
			Hash:    Opaque{1, 2, 3, 4, 5, 6, 7, 8, 9},
			Shape:   ShapeOf(geometry{Bits: 240, Hashes: 5, FPR: 0.001}),
			Summary: Summary{Keys: 22, Capacity: 30, SetBits: 88, FastBits: 240},
			Payload: uint64(len(payload)),
		},
		Payload: func(w io.Writer) error {
			_, err := w.Write(payload)
			return err
		},
	}
}

// sampleWords is the payload of the golden files.
var sampleWords = []uint64{1, 0x0123456789abcdef, 0, 1<<64 - 1, 1 << 63}

// wordBytes is the portable conversion, which is itself compared with the
// golden files.
func wordBytes(words []uint64) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// pattern is a payload in which no two places look alike for long.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 31 >> 3)
	}
	return b
}

// encode writes images one after the other.
func encode(tb testing.TB, images ...*Image) []byte {
	tb.Helper()
	var b bytes.Buffer
	for _, m := range images {
		before := b.Len()
		n, err := m.WriteTo(&b)
		if err != nil {
			tb.Fatal(err)
		}
		if int(n) != b.Len()-before {
			tb.Fatalf("WriteTo says %d bytes, wrote %d", n, b.Len()-before)
		}
	}
	return b.Bytes()
}

// content is a decoded frame.
type content struct {
	Header  Header
	Payload []byte
}

// image is the way back.
func (c content) image() *Image {
	m := sample(c.Payload)
	m.Header = c.Header
	return m
}

// decode reads all parts of r.
func decode(r io.Reader) ([]content, error) {
	var all []content
	for part, err := range Parts(r) {
		if err != nil {
			return nil, err
		}
		payload, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		all = append(all, content{part.Header(), payload})
	}
	return all, nil
}

// mustDecode reads a set that must be valid.
func mustDecode(tb testing.TB, r io.Reader) []content {
	tb.Helper()
	all, err := decode(r)
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// sameContent compares frames, with nil and empty payloads alike.
func sameContent(a, b []content) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !reflect.DeepEqual(a[i].Header, b[i].Header) || !bytes.Equal(a[i].Payload, b[i].Payload) {
			return false
		}
	}
	return true
}

// reseal renews all checksums of data that its lengths lead to, so that a
// changed file gets past them to the checks behind. The result is a copy.
func reseal(data []byte) []byte {
	data = bytes.Clone(data)
	for rest := data; len(rest) >= minHeader; {
		size := uint64(binary.LittleEndian.Uint32(rest[offLength:]))
		if size < minHeader || size > uint64(len(rest)) {
			break
		}
		body := size - sumSize
		binary.LittleEndian.PutUint32(rest[body:], crc32.Checksum(rest[:body], castagnoli))
		left := binary.LittleEndian.Uint64(rest[body-8:])
		rest = rest[size:]
		for left > 0 && len(rest) >= headSize {
			n := uint64(binary.LittleEndian.Uint32(rest[4:]))
			if n == 0 || n > left || n > uint64(len(rest)-headSize) {
				return data
			}
			sum := chunkSum((*[headSize]byte)(rest), rest[headSize:headSize+n])
			binary.LittleEndian.PutUint32(rest[8:], sum)
			left -= n
			rest = rest[headSize+n:]
		}
	}
	return data
}

// heap is an Alloc that grants everything and remembers what was asked.
type heap struct{ asked []uint64 }

func (h *heap) words(n uint64) ([]uint64, error) {
	h.asked = append(h.asked, n)
	return make([]uint64, n), nil
}
