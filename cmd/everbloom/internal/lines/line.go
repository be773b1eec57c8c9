package lines

import "fmt"

// MaxLine is the number of bytes that a line may have, its end not counted.
const MaxLine = 16 << 20

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
