package draw

import (
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// wrap breaks words into lines of at most that width; a word that is longer has a
// line of its own.
func wrap(style text.Style, words string, room vg.Length) []string {
	var lines []string
	for word := range strings.FieldsSeq(words) {
		if last := len(lines) - 1; last >= 0 && style.Width(lines[last]+" "+word) <= room {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// shorten cuts words to that width, visibly.
func shorten(style text.Style, words string, room vg.Length) string {
	if style.Width(words) <= room {
		return words
	}
	for words != "" && style.Width(words+"…") > room {
		_, size := utf8.DecodeLastRuneInString(words)
		words = words[:len(words)-size]
	}
	return strings.TrimSpace(words) + "…"
}
