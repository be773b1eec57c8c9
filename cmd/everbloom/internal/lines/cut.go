package lines

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A Span is the place of a line in its block, and of the part that its key is made
// of. Blocks are far smaller than 4 GiB.
type Span struct {
	From, To uint32 // of the key's part; equal if the line holds no key
	End      uint32 // of the line, behind the byte that ends it
}

// byteOrderMark is what some editors put before a text in UTF-8. It is no part of the
// first key, which would never be found.
const byteOrderMark = "\ufeff"

// Cut finds the lines of b. The spans are valid until b is filled again.
func (b *Block) Cut() []Span {
	b.spans = appendSpans(b.spans[:0], b.Text, b.rules)
	if b.First == 1 && bytes.HasPrefix(b.Text, []byte(byteOrderMark)) && len(byteOrderMark) <= int(b.spans[0].To) {
		b.spans[0].From = uint32(len(byteOrderMark))
	}
	if b.rules.whole() {
		return b.spans
	}
	for i, s := range b.spans {
		from, to := b.rules.part(b.Text[s.From:s.To])
		b.spans[i].From, b.spans[i].To = s.From+uint32(from), s.From+uint32(to)
	}
	return b.spans
}

// appendSpans finds the lines of text. It looks at eight bytes at once: where lines
// are short that takes half the time of a search for one end after the other.
func appendSpans(spans []Span, text []byte, r *Rules) []Span {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	var (
		end, start, i = r.End(), 0, 0
		pattern       = uint64(end) * ones
	)
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:]) ^ pattern
		hits := ^((x&low + low) | x | low) // the top bit of each byte that is end
		for ; hits != 0; hits &= hits - 1 {
			at := i + bits.TrailingZeros64(hits)/8
			spans = append(spans, whole(text, start, at, r.Zero, at+1))
			start = at + 1
		}
	}
	for ; i < len(text); i++ {
		if text[i] == end {
			spans = append(spans, whole(text, start, i, r.Zero, i+1))
			start = i + 1
		}
	}
	if start < len(text) {
		spans = append(spans, whole(text, start, len(text), r.Zero, len(text)))
	}
	return spans
}

// whole returns the span of a line whose key is all of it.
func whole(text []byte, from, to int, zero bool, end int) Span {
	if to > from && text[to-1] == '\r' && !zero {
		to--
	}
	return Span{uint32(from), uint32(to), uint32(end)}
}

// IgnoreCase reports whether keys are in lower case: [AppendLower] makes them.
func (b *Block) IgnoreCase() bool { return b.rules.IgnoreCase }
