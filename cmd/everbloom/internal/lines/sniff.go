package lines

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// sniffSize is how much of an input is looked at.
const sniffSize = 64 << 10

// strange is a sort of file that is no list of keys.
type strange struct {
	offset int
	magic  string
	name   string
	advice string // empty: --force
}

// pipeIn is the advice for what holds a list in a form that is not read.
const pipeIn = "pipe the list in with "

// stranges are told apart by how they begin. Those that could begin a list have
// bytes in their magic that no text has.
var stranges = []strange{
	{0, "\x89EVBL\r\n", "an everbloom filter", ""},
	{0, "\x7fELF", "an executable", ""},
	{0, "\xcf\xfa\xed\xfe", "an executable", ""},
	{0, "\x89PNG\r\n", "a picture", ""},
	{0, "\xff\xd8\xff", "a picture", ""},
	{0, "GIF87a", "a picture", ""},
	{0, "GIF89a", "a picture", ""},
	{0, "%PDF-", "a PDF document", ""},
	{0, "SQLite format 3\x00", "a database", ""},
	{0, "PK\x03\x04", "a zip archive", pipeIn + "unzip -p"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7z archive", pipeIn + "7z x -so"},
	{0, "Rar!\x1a\x07", "a rar archive", pipeIn + "unrar p -inul"},
	{0, "\x04\x22\x4d\x18", "lz4-compressed", pipeIn + "lz4 -dc"},
	{0, "\x1f\x9d", "compressed", pipeIn + "zcat"},
	{0, "\xff\xfe", "UTF-16 text", pipeIn + "iconv -f UTF-16 -t UTF-8"},
	{0, "\xfe\xff", "UTF-16 text", pipeIn + "iconv -f UTF-16 -t UTF-8"},
	{257, "ustar", "a tar archive", pipeIn + "tar -xO"},
}

// check refuses a text that begins unlike a list of keys.
func (r *Rules) check(text []byte) error {
	if r.Force {
		return nil
	}
	text = text[:min(len(text), sniffSize)]
	for _, s := range stranges {
		if len(text) > s.offset && bytes.HasPrefix(text[s.offset:], []byte(s.magic)) {
			return s.refuse()
		}
	}
	if !r.Zero && bytes.IndexByte(text, 0) >= 0 || isNoise(text) {
		s := strange{name: "a binary file"}
		return s.refuse()
	}
	return nil
}

func (s *strange) refuse() error {
	if s.advice != "" {
		return fmt.Errorf("is %s, not a list of keys: %s", s.name, s.advice)
	}
	return fmt.Errorf("looks like %s, not a list of keys: give --force to take its lines as keys", s.name)
}

// isNoise reports whether text is neither UTF-8 nor of an older encoding. The
// older ones have as many bytes that are not UTF-8, but no control characters.
func isNoise(text []byte) bool {
	if utf8.Valid(text) {
		return false
	}
	invalid, control := 0, 0
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
		case r < ' ' && (r < '\b' || r > '\r') && r != '\x1b' && r != 0:
			control++
		}
		rest = rest[size:]
	}
	return control > 0 && invalid > len(text)/4
}
