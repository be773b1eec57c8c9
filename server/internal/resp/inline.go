package resp

import "bytes"

// inline parses a command that is a line of words, as a person types it. It reports false
// if the line is not complete or is wrong; a line without words is passed over.
func (r *Reader) inline() (args [][]byte, ok bool) {
	have := r.buf[r.start:r.end]
	i := bytes.IndexByte(have[r.from:], '\n')
	if i < 0 {
		r.from = len(have)
		if len(have) > maxLine {
			r.fail(errInline)
		}
		return nil, false
	}
	end := r.from + i
	if end > maxLine {
		return nil, r.fail(errInline)
	}
	words, ok := split(bytes.TrimSuffix(have[:end], []byte{'\r'}))
	switch {
	case !ok:
		return nil, r.fail(errQuotes)
	case len(words) > r.limits.Args:
		return nil, r.fail(r.limits.tooMany())
	}
	r.skip(end + 1)
	return words, true
}

// split cuts a line into words. A word may stand in quotes: single ones know \', double
// ones also \xHH and the usual letters.
func split(line []byte) (words [][]byte, ok bool) {
	for {
		line = bytes.TrimLeft(line, " \t\r\n\v\f\x00")
		if len(line) == 0 {
			return words, true
		}
		var word []byte
		if word, line, ok = firstWord(line); !ok {
			return nil, false
		}
		words = append(words, word)
	}
}

// firstWord returns the word that a line begins with, and the rest.
func firstWord(line []byte) (word, rest []byte, ok bool) {
	word = []byte{}
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case space(c):
			return word, line[i:], true
		case c == '"' || c == '\'':
			more, n, closed := quoted(word, line[i+1:], c)
			if !closed {
				return nil, nil, false
			}
			word = more
			if i += n + 1; i < len(line) && !space(line[i]) {
				return nil, nil, false
			}
		default:
			word = append(word, c)
			i++
		}
	}
	return word, nil, true
}

// quoted appends what stands before the closing quote, and returns how many bytes that
// took with the quote.
func quoted(word, s []byte, quote byte) (_ []byte, n int, ok bool) {
	for i := 0; i < len(s); {
		switch {
		case s[i] == quote:
			return word, i + 1, true
		case s[i] == '\\' && i+1 < len(s) && (quote == '"' || s[i+1] == '\''):
			c, used := unescape(s[i+1:], quote)
			word = append(word, c)
			i += 1 + used
		default:
			word = append(word, s[i])
			i++
		}
	}
	return nil, 0, false
}

// unescape returns the byte that stands behind a backslash, and how many bytes say it.
func unescape(s []byte, quote byte) (c byte, used int) {
	if quote == '\'' {
		return s[0], 1
	}
	switch s[0] {
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'b':
		return '\b', 1
	case 'a':
		return '\a', 1
	case 'x':
		if len(s) >= 3 {
			if high, low := hexDigit(s[1]), hexDigit(s[2]); high >= 0 && low >= 0 {
				return byte(high<<4 | low), 3
			}
		}
	}
	return s[0], 1
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func space(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r' || c == 0
}
