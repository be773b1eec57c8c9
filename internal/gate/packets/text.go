package packets

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/gate/pattern"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// maxLine is longer than any valid line, and maxWords more words than fit in a packet.
const (
	maxLine  = 1 << 16
	maxWords = 1 << 12
)

// textReader reads the text format.
type textReader struct {
	lines  *bufio.Scanner
	line   uint64
	number uint64
	words  []uint32
}

func newText(r io.Reader) *textReader {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	return &textReader{lines: s}
}

// Read fills in the next packet or query.
func (t *textReader) Read(p *Packet) error {
	for t.lines.Scan() {
		t.line++
		text, _, _ := strings.Cut(t.lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		t.number++
		if err := t.parse(text, p); err != nil {
			return fault.In("packets", "packet %d, line %d: %w", t.number, t.line, err)
		}
		return nil
	}
	if err := t.lines.Err(); err != nil {
		return fault.In("packets", "packet %d, line %d: %w", t.number+1, t.line+1, err)
	}
	return io.EOF
}

func (t *textReader) parse(text string, p *Packet) error {
	if rest, ok := strings.CutPrefix(text, "?"); ok {
		src, err := ParseAddress(strings.TrimSpace(rest))
		*p = Packet{Src: src, Number: t.number, Query: true}
		return err
	}
	fields := strings.Fields(text)
	*p = Packet{Number: t.number}
	if at, err := time.Parse(time.RFC3339Nano, fields[0]); err == nil {
		p.At = at.UnixNano()
		fields = fields[1:]
	}
	if len(fields) < 2 || len(fields) > maxWords {
		return fmt.Errorf("%d fields, must be an address and 1 to %d words", len(fields), maxWords)
	}
	var err error
	if p.Src, err = ParseAddress(fields[0]); err != nil {
		return err
	}
	t.words = t.words[:0]
	for _, field := range fields[1:] {
		w, err := pattern.ParseWord(field)
		if err != nil {
			return err
		}
		t.words = append(t.words, w)
	}
	p.Words = t.words
	return nil
}

// ParseAddress reads an IPv4 or IPv6 address.
func ParseAddress(text string) (netip.Addr, error) {
	a, err := netip.ParseAddr(text)
	if err != nil {
		return a, fmt.Errorf("address %.60q: not an IPv4 or IPv6 address", text)
	}
	return a.Unmap(), nil
}

// AppendText appends the line of a packet.
func AppendText(to []byte, src netip.Addr, word uint32) []byte {
	return fmt.Appendf(src.AppendTo(to), " %08x\n", word)
}
