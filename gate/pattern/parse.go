package pattern

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// maxLine is longer than any line with a pattern in it.
const maxLine = 1 << 16

// Read reads a list of patterns, one to a line:
//
//	name: w1 w2 …
//
// A word is 8 hexadecimal or 32 binary digits. Names have no colon and may have
// spaces inside. Empty lines and comments after # are skipped.
func Read(r io.Reader) ([]Pattern, error) {
	var list []Pattern
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	line := 0
	for s.Scan() {
		line++
		text, _, _ := strings.Cut(s.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := parse(text)
		if err != nil {
			return nil, fault.In("pattern", "line %d: %w", line, err)
		}
		list = append(list, p)
	}
	if err := s.Err(); err != nil {
		return nil, fault.In("pattern", "line %d: %w", line+1, err)
	}
	return list, checkAll(list)
}

func parse(text string) (Pattern, error) {
	name, rest, ok := strings.Cut(text, ":")
	if !ok {
		return Pattern{}, fmt.Errorf("%q: no colon behind the name", text)
	}
	p := Pattern{Name: strings.TrimSpace(name)}
	for field := range strings.FieldsSeq(rest) {
		w, err := ParseWord(field)
		if err != nil {
			return Pattern{}, err
		}
		p.Words = append(p.Words, w)
	}
	return p, p.check()
}

// ParseWord reads a word of 8 hexadecimal or 32 binary digits.
func ParseWord(text string) (uint32, error) {
	base := 16
	switch len(text) {
	case 8:
	case 32:
		base = 2
	default:
		return 0, fmt.Errorf("word %q: %d characters, must be 8 hexadecimal or 32 binary digits", shorten(text), len(text))
	}
	w, err := strconv.ParseUint(text, base, 32)
	if err != nil || strings.ContainsAny(text, "+-_") {
		return 0, fmt.Errorf("word %q: must be 8 hexadecimal or 32 binary digits", text)
	}
	return uint32(w), nil
}

// shorten cuts long text for messages.
func shorten(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}

// Write writes patterns so that [Read] reads them.
func Write(w io.Writer, list []Pattern) error {
	var text []byte
	for _, p := range list {
		text = append(text, p.Name...)
		text = append(text, ':')
		for _, word := range p.Words {
			text = fmt.Appendf(text, " %08x", word)
		}
		text = append(text, '\n')
	}
	_, err := w.Write(text)
	return err
}
