// Package extract finds the parts of a line that may be keys: addresses, words, or
// what a regular expression matches.
package extract

import (
	"fmt"
	"regexp"
)

// Part is one that was found.
type Part struct {
	From, To int    // its place in the text
	Also     string // another way to write it; empty if there is none
}

// A Finder appends the parts of text to found, in their order. It is safe for
// concurrent use.
type Finder func(found []Part, text []byte) []Part

// New returns the finder that name stands for: "ip", "word", or a regular
// expression, whose first group is the part if it has one.
func New(name string) (Finder, error) {
	switch name {
	case "ip":
		return addresses, nil
	case "word":
		return words, nil
	case "":
		return nil, fmt.Errorf("an empty expression matches nothing: take ip, word or a regular expression")
	}
	re, err := regexp.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: take ip, word or a regular expression", err)
	}
	return expression(re), nil
}

// expression finds the matches of re that are not empty.
func expression(re *regexp.Regexp) Finder {
	group := min(1, re.NumSubexp())
	return func(found []Part, text []byte) []Part {
		for _, m := range re.FindAllSubmatchIndex(text, -1) {
			if from, to := m[2*group], m[2*group+1]; from < to {
				found = append(found, Part{From: from, To: to})
			}
		}
		return found
	}
}

// class is what a byte may be part of.
type class uint8

const (
	inWord    class = 1 << iota // letters, digits, - _ . and all bytes beyond ASCII
	inAddress                   // hexadecimal digits, . and :
	isEdge                      // of a word: no part of it at its ends
	isLetter                    // or digit or _: an address does not touch it
)

var classes = func() (table [256]class) {
	for i := range table {
		b := byte(i)
		letter := 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '_' || b >= 0x80
		hex := '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'f'
		if letter {
			table[i] |= inWord | isLetter
		}
		if b == '-' || b == '.' {
			table[i] |= inWord | isEdge
		}
		if hex || b == '.' || b == ':' {
			table[i] |= inAddress
		}
	}
	return table
}()

// run returns the first run of bytes of class c at or after from.
func run(text []byte, from int, c class) (int, int) {
	for from < len(text) && classes[text[from]]&c == 0 {
		from++
	}
	to := from
	for to < len(text) && classes[text[to]]&c != 0 {
		to++
	}
	return from, to
}

// words finds runs of letters, digits, '-', '_' and '.', without the dashes and
// dots at their ends.
func words(found []Part, text []byte) []Part {
	for from, to := run(text, 0, inWord); from < len(text); from, to = run(text, to, inWord) {
		first, last := from, to
		for first < last && classes[text[first]]&isEdge != 0 {
			first++
		}
		for first < last && classes[text[last-1]]&isEdge != 0 {
			last--
		}
		if first < last {
			found = append(found, Part{From: first, To: last})
		}
	}
	return found
}
