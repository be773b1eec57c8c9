package frame

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
)

// readHeader takes one header from s. The order of the checks is fixed: magic
// and version decide whether the rest can be understood, the length whether it
// may be read, the CRC whether it is worth looking at. Only then are the
// fields believed, and each is still checked against its limit.
func readHeader(s *source) (Header, error) {
	start := s.off
	b, err := readPrefix(s)
	if err != nil {
		return Header{}, err
	}
	size := binary.LittleEndian.Uint32(b[offLength:])
	if size < minHeader || size > maxHeader {
		return Header{}, corruptf(start+offLength, "header: length: %d, limits %d and %d", size, minHeader, maxHeader)
	}
	b = append(make([]byte, 0, size), b...)[:size]
	if err := s.full(b[prefixSize:]); err != nil {
		return Header{}, fmt.Errorf("frame: header: %w", err)
	}
	body := b[:size-sumSize]
	want := binary.LittleEndian.Uint32(b[size-sumSize:])
	if sum := crc32.Checksum(body, castagnoli); sum != want {
		return Header{}, corruptf(s.off-sumSize, "header: crc32c: %08x, want %08x", sum, want)
	}
	p := parser{b: body, pos: offKind, start: start}
	h := p.header()
	return h, p.err
}

// readPrefix takes the bytes up to the header's length. A file too short for
// them is called truncated only if what there is could begin a frame of ours.
func readPrefix(s *source) ([]byte, error) {
	start, b := s.off, make([]byte, prefixSize)
	err := s.full(b)
	got := b[:s.off-start]
	if first := got[:min(len(got), len(magic))]; string(first) != magic[:len(first)] {
		return nil, magicError(first, start)
	}
	if len(got) >= offKind {
		if v := binary.LittleEndian.Uint16(got[offVersion:]); v != envelopeVersion {
			return nil, fmt.Errorf("frame: header: envelope version: %d, limit %d, at offset %d: %w",
				v, envelopeVersion, start+offVersion, ErrVersion)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("frame: header: %w", err)
	}
	return b, nil
}

// magicError tells a file of ours that was damaged on its way from a file of
// somebody else.
func magicError(got []byte, start uint64) error {
	err := fmt.Errorf("frame: magic: % x, want % x, at offset %d: %w", got, magic, start, ErrMagic)
	if letters := magic[1:5]; strings.Contains(string(got), letters) {
		return fmt.Errorf("%w, or one copied in text mode: %w", err, ErrCorrupt)
	}
	return err
}

// parser takes a header's fields in turn. After the first error it returns
// zeros and keeps that error.
type parser struct {
	b     []byte // the header without its CRC
	pos   int
	start uint64 // offset of b in the source
	err   error
}

// failf keeps an error about the field that begins at from.
func (p *parser) failf(from int, format string, args ...any) {
	if p.err == nil {
		p.err = corruptf(p.start+uint64(from), "header: "+format, args...)
	}
}

// take returns the next n bytes: zeros if there are not so many.
func (p *parser) take(n int, what string) []byte {
	if have := len(p.b) - p.pos; p.err == nil && n > have {
		p.failf(p.pos, "%s: %d bytes, limit %d", what, n, have)
	}
	if p.err != nil {
		return make([]byte, n)
	}
	p.pos += n
	return p.b[p.pos-n : p.pos]
}

func (p *parser) u8(what string) int      { return int(p.take(1, what)[0]) }
func (p *parser) u16(what string) uint16  { return binary.LittleEndian.Uint16(p.take(2, what)) }
func (p *parser) u64(what string) uint64  { return binary.LittleEndian.Uint64(p.take(8, what)) }
func (p *parser) f64(what string) float64 { return math.Float64frombits(p.u64(what)) }

// count takes a length of one byte.
func (p *parser) count(what string, limit int) int {
	n := p.u8(what)
	if n > limit {
		p.failf(p.pos-1, "%s: %d, limit %d", what, n, limit)
		return 0
	}
	return n
}

// header takes everything after the envelope version.
func (p *parser) header() Header {
	h := Header{Kind: Kind(p.u16("kind")), Version: p.u16("kind format version")}
	if r := p.u16("reserved"); r != 0 {
		p.failf(offReserved, "reserved: %d, limit 0", r)
	}
	h.Part, h.Parts = p.u16("part"), p.u16("parts")
	if h.Part >= h.Parts {
		p.failf(offPart, "part: %d, parts: %d", h.Part, h.Parts)
	}
	p.take(4, "header length") // known: it is len(p.b) and the CRC
	if n := p.count("hash length", maxHash); n > 0 {
		h.Hash = Opaque(p.take(n, "hash"))
	}
	h.Shape = p.shape()
	s := &h.Summary
	s.Keys, s.Capacity, s.SetBits = p.u64("keys"), p.u64("capacity"), p.u64("set bits")
	s.FastBits, s.SlowBits = p.u64("fast bits"), p.u64("slow bits")
	h.Payload = p.u64("payload length")
	if h.Payload > maxPayload {
		p.failf(p.pos-8, "payload length: %d, limit %d", h.Payload, uint64(maxPayload))
	}
	if extra := len(p.b) - p.pos; extra != 0 {
		p.failf(p.pos, "length: %d bytes too many", extra)
	}
	return h
}

// shape takes the fields of the shape.
func (p *parser) shape() Shape {
	var s Shape
	for i := range p.count("fields of the shape", maxFields) {
		from := p.pos
		s = append(s, p.field(i))
		if p.err != nil {
			return nil
		}
		if err := s.checkField(i); err != nil {
			p.failf(from, "%v", err)
			return nil
		}
	}
	return s
}

// field takes field number i.
func (p *parser) field(i int) Field {
	f := Field{Name: string(p.take(p.count("name length", maxName), "name"))}
	switch tag := p.u8("type"); tag {
	case typeUint:
		f.Value = Uint(p.u64("value"))
	case typeFloat:
		f.Value = Float(p.f64("value"))
	default:
		p.failf(p.pos-1, "field %d: %q: type: %q, want 'u' or 'f'", i, f.Name, rune(tag))
	}
	return f
}
