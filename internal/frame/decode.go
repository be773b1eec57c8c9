package frame

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
)

// readHeader takes one header from s. The order of the checks is fixed: magic
// and version decide whether the rest can be understood, the length whether it
// may be read, the CRC whether it is worth looking at. Only then are the
// fields used, and each is still checked against its limit.
func readHeader(s *source) (Header, error) {
	start := s.off
	b, err := readPrefix(s)
	if err != nil {
		return Header{}, err
	}
	size := binary.LittleEndian.Uint32(b[offLength:])
	if size < minHeader || size > maxHeader {
		return Header{}, corrupt(start+offLength, "header: length", size, between(minHeader, maxHeader))
	}
	b = append(make([]byte, 0, size), b...)[:size]
	if err := s.full(b[prefixSize:], "header"); err != nil {
		return Header{}, err
	}
	body := b[:size-sumSize]
	want := binary.LittleEndian.Uint32(b[size-sumSize:])
	if sum := crc32.Checksum(body, castagnoli); sum != want {
		return Header{}, corrupt(s.off-sumSize, "header: crc32c", sumText(want), sumText(sum))
	}
	p := parser{b: body, pos: offKind, start: start}
	h := p.header()
	return h, p.err
}

// readPrefix takes the bytes up to the header's length. A file too short for
// them is called truncated only if what there is could begin a frame.
func readPrefix(s *source) ([]byte, error) {
	start, b := s.off, make([]byte, prefixSize)
	err := s.full(b, "header")
	got := b[:s.off-start]
	if first := got[:min(len(got), len(magic))]; string(first) != magic[:len(first)] {
		return nil, magicError(first, start)
	}
	if len(got) >= offKind {
		if v := binary.LittleEndian.Uint16(got[offVersion:]); v != envelopeVersion {
			return nil, wrong(filter.ErrVersion, start+offVersion, "header: envelope version", v, envelopeVersion)
		}
	}
	return b, err
}

// magicError tells a filter file that was damaged on its way from other files.
func magicError(got []byte, start uint64) error {
	err := filter.ErrNotFilter
	if letters := magic[1:5]; strings.Contains(string(got), letters) {
		err = errTextMode
	}
	return wrong(err, start, "header: magic", fmt.Sprintf("% x", got), fmt.Sprintf("% x", magic))
}

// parser takes a header's fields in turn. After the first error it returns
// zeros and keeps that error.
type parser struct {
	b     []byte // the header without its CRC
	pos   int
	start uint64 // offset of b in the source
	err   error
}

// fail keeps an error about the field that begins at from.
func (p *parser) fail(from int, field string, value, limit any) {
	if p.err == nil {
		p.err = corrupt(p.start+uint64(from), "header: "+field, value, limit)
	}
}

// take returns the next n bytes: zeros if there are not so many.
func (p *parser) take(n int, what string) []byte {
	if have := len(p.b) - p.pos; n > have {
		p.fail(p.pos, what+": bytes", have, n)
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
		p.fail(p.pos-1, what, n, atMost(uint64(limit)))
		return 0
	}
	return n
}

// header takes everything after the envelope version.
func (p *parser) header() Header {
	h := Header{Kind: Kind(p.u16("kind")), Version: p.u16("kind format version")}
	if r := p.u16("reserved"); r != 0 {
		p.fail(offReserved, "reserved", r, 0)
	}
	h.Part, h.Parts = p.u16("part"), p.u16("parts")
	if h.Part >= h.Parts {
		p.fail(offPart, "part", partOf(h.Part, h.Parts), "a part below the number of parts")
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
		p.fail(p.pos-8, "payload length", h.Payload, atMost(maxPayload))
	}
	if len(p.b) != p.pos {
		p.fail(offLength, "length", len(p.b)+sumSize, p.pos+sumSize)
	}
	return h
}

// shape takes the fields of the shape.
func (p *parser) shape() Shape {
	var s Shape
	for i := range p.count("fields of the shape", maxFields) {
		from := p.pos
		f := p.field(fmt.Sprintf("field %d", i))
		if s.has(f.Name) {
			p.fail(from, fmt.Sprintf("field %d: name", i), f.Name, "another than those before")
		}
		s = append(s, f)
	}
	return s
}

func (s Shape) has(name string) bool {
	return slices.ContainsFunc(s, func(f Field) bool { return f.Name == name })
}

// field takes a field of the shape.
func (p *parser) field(what string) Field {
	from := p.pos
	f := Field{Name: string(p.take(p.count("name length", maxName), "name"))}
	if !validName(f.Name) {
		p.fail(from, what+": name", strconv.Quote(f.Name), fmt.Sprintf("1 to %d of a-z and 0-9", maxName))
	}
	switch tag := p.u8("type"); tag {
	case typeUint:
		f.Value = Uint(p.u64("value"))
	case typeFloat:
		f.Value = Float(p.f64("value"))
	default:
		p.fail(p.pos-1, what+": type", strconv.QuoteRune(rune(tag)), "'u' or 'f'")
	}
	if !f.Value.finite() {
		p.fail(p.pos-8, what+": "+f.Name, f.Value, "a finite number")
	}
	return f
}
