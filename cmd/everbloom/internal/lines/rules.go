package lines

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Rules say where lines end and which part of a line is its key. The zero Rules
// take every line whole.
type Rules struct {
	// Zero ends lines at a zero byte instead of a newline. Nothing is dropped
	// before it.
	Zero bool

	// Comments are the beginnings of lines that hold no key. Blanks may precede them.
	Comments []string

	// Field is the number of the field that is the key, from 1; 0 means the whole
	// line. A line with fewer fields holds no key.
	Field int

	// Delimiter separates fields. Empty means runs of blanks; those at the
	// beginning and at the end of a line separate nothing.
	Delimiter string

	// IgnoreCase puts keys into lower case.
	IgnoreCase bool

	// Force reads inputs that look like anything but a list of keys.
	Force bool
}

// End returns the byte that ends a line.
func (r *Rules) End() byte {
	if r.Zero {
		return 0
	}
	return '\n'
}

// whole reports whether the text of a line is the line itself.
func (r *Rules) whole() bool { return r.Field == 0 && len(r.Comments) == 0 }

// part returns the part of a line's text that holds the key.
func (r *Rules) part(text []byte) (from, to int) {
	switch {
	case r.isComment(text):
		return 0, 0
	case r.Field == 0:
		return 0, len(text)
	case r.Delimiter == "":
		return blankField(text, r.Field)
	}
	return field(text, []byte(r.Delimiter), r.Field)
}

func (r *Rules) isComment(text []byte) bool {
	if len(r.Comments) == 0 {
		return false
	}
	text = bytes.TrimLeft(text, " \t")
	for _, prefix := range r.Comments {
		if len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix {
			return true
		}
	}
	return false
}

// blankField returns the n-th run of bytes that are no blanks.
func blankField(text []byte, n int) (from, to int) {
	for ; n > 0; n-- {
		for from = to; from < len(text) && isBlank(text[from]); {
			from++
		}
		for to = from; to < len(text) && !isBlank(text[to]); {
			to++
		}
	}
	return from, to
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// field returns what stands between the delimiters n-1 and n.
func field(text, delimiter []byte, n int) (from, to int) {
	for ; n > 1; n-- {
		i := bytes.Index(text[from:], delimiter)
		if i < 0 {
			return 0, 0
		}
		from += i + len(delimiter)
	}
	if i := bytes.Index(text[from:], delimiter); i >= 0 {
		return from, from + i
	}
	return from, len(text)
}

// AppendLower appends text in lower case: that of Unicode if text is UTF-8, else
// that of ASCII.
func AppendLower(to, text []byte) []byte {
	ascii := true
	for _, b := range text {
		ascii = ascii && b < utf8.RuneSelf
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		to = append(to, b)
	}
	if ascii || !utf8.Valid(text) {
		return to
	}
	to = to[:len(to)-len(text)]
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		to, text = utf8.AppendRune(to, unicode.ToLower(r)), text[size:]
	}
	return to
}
