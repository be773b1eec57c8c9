package pattern

import (
	"bufio"
	"encoding/hex"
	"errors"
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
//	name: w1 w2 …                   words of 8 hexadecimal or 32 binary digits
//	name: "text |0d 0a| text"       bytes: text, with hexadecimal between bars
//	name: |de ad be ef|             bytes
//	name: "text" nocase             in either case
//	content:"text"; nocase;         the same as Suricata writes it, named by its line
//
// In text a backslash stands before quotes, backslashes, bars, colons and semicolons that
// mean themselves. Names have no colon and may have spaces inside. Empty lines and
// comments after # are skipped.
//
// A line may also be a rule of Suricata, alert … (…), which a backslash at its end continues.
// Its pattern is the content that is the fast_pattern, else the longest; the other conditions
// are not checked. Rules without a content of four bytes, and those of pass, are left out.
func Read(r io.Reader) ([]Pattern, error) {
	list, _, err := ReadRules(r)
	return list, err
}

// ReadRules is Read, and returns how many rules were left out.
func ReadRules(r io.Reader) (list []Pattern, left int, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	line := 0
	rule := "" // as far as it was read
	for s.Scan() {
		line++
		text := strings.TrimSpace(s.Text())
		if rule == "" && (text == "" || text[0] == '#') {
			continue
		}
		if text = rule + text; isRule(text) && strings.HasSuffix(text, `\`) && len(text) < maxLine {
			rule = strings.TrimSuffix(text, `\`)
			continue
		}
		rule = ""
		p, ok, err := parseLine(text, line)
		if err != nil {
			return nil, 0, fault.In("pattern", "line %d: %w", line, err)
		}
		if ok {
			list = append(list, p)
		} else {
			left++
		}
	}
	if err := s.Err(); err != nil {
		return nil, 0, fault.In("pattern", "line %d: %w", line+1, err)
	}
	if rule != "" {
		return nil, 0, fault.In("pattern", "line %d: a rule does not end", line)
	}
	return list, left, checkAll(list)
}

func parseLine(text string, line int) (p Pattern, ok bool, err error) {
	if isRule(text) {
		return parseRule(text, line)
	}
	p, err = parse(text, line)
	return p, true, err
}

// suricata is the keyword before text in the rules of Suricata.
const suricata = "content:"

func parse(text string, line int) (Pattern, error) {
	p := Pattern{Name: fmt.Sprintf("line %d", line)}
	if !strings.HasPrefix(text, suricata) && text[0] != '"' && text[0] != '|' {
		name, rest, ok := strings.Cut(text, ":")
		if !ok {
			return p, fmt.Errorf("%q: no colon behind the name", shorten(text))
		}
		p.Name, text = strings.TrimSpace(name), strings.TrimSpace(rest)
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, suricata))
	var err error
	if text != "" && strings.Contains(`"|!`, text[:1]) {
		err = p.parseBytes(text)
	} else {
		err = p.parseWords(text)
	}
	if err != nil {
		return p, err
	}
	return p, p.check()
}

func (p *Pattern) parseWords(text string) error {
	text, _, _ = strings.Cut(text, "#")
	for field := range strings.FieldsSeq(text) {
		w, err := ParseWord(field)
		if err != nil {
			return err
		}
		p.Words = append(p.Words, w)
	}
	return nil
}

// parseBytes reads text in quotes, or hexadecimal between bars, and what follows.
func (p *Pattern) parseBytes(text string) (err error) {
	if text[0] == '!' {
		return errors.New("content:! means that something is absent: there are no such patterns")
	}
	var rest string
	if text[0] == '|' {
		p.Bytes, rest, err = hexSection(nil, text[1:])
	} else {
		p.Bytes, rest, err = quoted(text[1:])
	}
	if err != nil {
		return err
	}
	if len(p.Bytes) == 0 {
		return errors.New("the text is empty")
	}
	rest, _, _ = strings.Cut(rest, "#")
	for option := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == ';' || r == ' ' || r == '\t' }) {
		switch option {
		case "nocase":
			p.NoCase = true
		case "fast_pattern", "rawbytes": // say nothing about what is found
		default:
			return fmt.Errorf("%q behind the text: only nocase is known", shorten(option))
		}
	}
	return nil
}

// quoted reads text up to the closing quote, and returns what is behind it.
func quoted(text string) (b []byte, rest string, err error) {
	for text != "" {
		c := text[0]
		text = text[1:]
		switch {
		case c == '"':
			return b, text, nil
		case c == '|':
			if b, text, err = hexSection(b, text); err != nil {
				return nil, "", err
			}
		case c == '\\' && text != "" && strings.Contains(`"\|:;`, text[:1]):
			b = append(b, text[0])
			text = text[1:]
		default:
			b = append(b, c)
		}
	}
	return nil, "", errors.New("no quote behind the text")
}

// hexSection reads hexadecimal digits up to the closing bar, and returns what is behind.
func hexSection(b []byte, text string) (to []byte, rest string, err error) {
	digits, rest, ok := strings.Cut(text, "|")
	if !ok {
		return nil, "", errors.New("no bar behind the hexadecimal digits")
	}
	b, err = hex.AppendDecode(b, []byte(strings.Join(strings.Fields(digits), "")))
	if err != nil {
		return nil, "", fmt.Errorf("%q between bars: not pairs of hexadecimal digits", shorten(digits))
	}
	return b, rest, nil
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
		if len(p.Bytes) > 0 {
			text = append(text, ' ')
			text = appendQuoted(text, p.Bytes)
		}
		if p.NoCase {
			text = append(text, " nocase"...)
		}
		text = append(text, '\n')
	}
	_, err := w.Write(text)
	return err
}

// appendQuoted appends bytes as text in quotes, the unprintable ones between bars.
func appendQuoted(to, b []byte) []byte {
	to = append(to, '"')
	for _, c := range b {
		switch {
		case strings.IndexByte(`"\|`, c) >= 0:
			to = append(to, '\\', c)
		case c < ' ' || c > '~':
			to = fmt.Appendf(to, "|%02x|", c)
		default:
			to = append(to, c)
		}
	}
	return append(to, '"')
}
