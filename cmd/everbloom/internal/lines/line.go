package lines

import (
	"bytes"
	"fmt"
)

// MaxLine is the number of bytes that a line may have, its end not counted.
const MaxLine = 16 << 20

// Cut returns the first line of text, its end included, and what follows it.
func Cut(text []byte) (line, rest []byte) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1], text[i+1:]
	}
	return text, nil
}

// Key returns the key that a line holds: the line without its end. It is empty
// if there is none.
func Key(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// Error is a problem with an input, and where it is.
type Error struct {
	Name string // of the input
	Line int    // from 1; 0 if the problem is not with a line
	Err  error
}

// Error gives name, line and problem, separated by colons.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
}

// Unwrap returns the problem itself.
func (e *Error) Unwrap() error { return e.Err }
