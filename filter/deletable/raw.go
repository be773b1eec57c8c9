package deletable

import (
	"encoding/binary"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
)

// The raw form is for packet headers, where every bit counts and both sides know
// the shape: exactly m bits, marks first, as in Fig. 1 of [DlBF10]. Bit i is bit
// i mod 8 of byte i/8; unused bits of the last byte are clear.
//
//	bit   0         r                         m
//	      | marks r | cells m - r             | 0 to 7 clear bits |

// RawLen returns the number of bytes of the raw form, ⌈m/8⌉.
func (s Shape) RawLen() uint64 { return ceilDiv(s.Bits, 8) }

// AppendRaw appends the raw form of the filter to b. The shape does not travel
// with it, nor does the number of keys.
func (f *Filter) AppendRaw(b []byte) []byte {
	p := packer{to: b}
	p.putAll(f.marks, f.shape.Regions)
	p.putAll(f.cells, f.size)
	return p.finish()
}

// FromRaw returns the filter of shape s whose raw form is b. Its number of keys is
// an estimate from the fill.
func FromRaw(s Shape, b []byte) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if uint64(len(b)) != s.RawLen() {
		return nil, fmt.Errorf("deletable: raw form: %d bytes, want %d for %d bits: %w", len(b), s.RawLen(), s.Bits, filter.ErrCorrupt)
	}
	if used := s.Bits % 8; used != 0 && b[len(b)-1]>>used != 0 {
		return nil, fmt.Errorf("deletable: raw form: bits beyond %d are set: %#x: %w", s.Bits, b[len(b)-1], filter.ErrCorrupt)
	}
	f, err := Build(s)
	if err != nil {
		return nil, err
	}
	u := unpacker{from: b}
	u.takeAll(f.marks, s.Regions)
	u.takeAll(f.cells, f.size)
	if err := f.checkBits(); err != nil {
		return nil, fmt.Errorf("deletable: raw form: %w: %w", err, filter.ErrCorrupt)
	}
	f.recount()
	f.keys = min(f.estimate(), f.set)
	return f, nil
}

// A packer appends runs of bits without gaps.
type packer struct {
	to   []byte
	part uint64 // the last bits, not yet in to
	n    uint64 // how many, below 64
}

// putAll appends the first n bits of words, whose other bits are clear.
func (p *packer) putAll(words []uint64, n uint64) {
	for _, w := range words {
		width := min(n, 64)
		n -= width
		p.part |= w << p.n
		if p.n+width < 64 {
			p.n += width
			continue
		}
		p.to = binary.LittleEndian.AppendUint64(p.to, p.part)
		p.part = w >> (64 - p.n)
		p.n += width - 64
	}
}

func (p *packer) finish() []byte {
	for ; p.n > 0; p.n -= min(p.n, 8) {
		p.to = append(p.to, byte(p.part))
		p.part >>= 8
	}
	return p.to
}

// An unpacker is the reverse of a packer.
type unpacker struct {
	from []byte
	part uint64 // the next bits, taken out of from
	n    uint64 // how many, below 64; the others of part are clear
}

// takeAll fills words with the next n bits.
func (u *unpacker) takeAll(words []uint64, n uint64) {
	for i := range words {
		width := min(n, 64)
		n -= width
		w := u.part
		if u.n < width {
			next, size := u.next()
			w |= next << u.n
			u.part = next >> (width - u.n)
			u.n += size - width
		} else {
			u.part >>= width
			u.n -= width
		}
		words[i] = w & (^uint64(0) >> (64 - width))
	}
}

// next takes up to 8 bytes.
func (u *unpacker) next() (bits, size uint64) {
	n := min(8, len(u.from))
	for i, b := range u.from[:n] {
		bits |= uint64(b) << (8 * i)
	}
	u.from = u.from[n:]
	return bits, 8 * uint64(n)
}
