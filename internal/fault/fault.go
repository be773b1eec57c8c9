// Package fault keeps the name of the package that an error comes from apart from its
// text, so that the command line tool can leave it out.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// An Error is an error with the name of its package in front.
type Error struct {
	Package string
	Field   string // of a configuration, or several, separated by ", "; may be empty
	Err     error
}

// In returns an error of a package.
func In(pkg, format string, args ...any) error {
	return &Error{Package: pkg, Err: fmt.Errorf(format, args...)}
}

// Field returns an error about a field of a package's configuration.
func Field(pkg, field, format string, args ...any) error {
	return &Error{Package: pkg, Field: field, Err: fmt.Errorf(format, args...)}
}

// Error returns the text with the package in front.
func (e *Error) Error() string { return e.Package + ": " + e.text(e.Err.Error()) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) text(rest string) string {
	if e.Field == "" {
		return rest
	}
	return e.Field + ": " + rest
}

// Text returns the text of err without the name of its package. Errors that are joined
// have a line each.
func Text(err error) string {
	lines := make([]string, 0, 1)
	for _, err := range Each(err) {
		if e, ok := err.(*Error); ok { //nolint:errorlint // an error inside of another text keeps its package
			lines = append(lines, e.text(Text(e.Err)))
		} else {
			lines = append(lines, err.Error())
		}
	}
	return strings.Join(lines, "\n")
}

// Each returns the errors that err joins; err alone if it joins none.
func Each(err error) []error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(list.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	return list.Unwrap()
}

// From returns the error of the package inside of err, or err if there is none.
func From(err error, pkg string) error {
	for inner := err; ; {
		e := new(Error)
		if !errors.As(inner, &e) {
			return err
		}
		if e.Package == pkg {
			return e
		}
		inner = e.Err
	}
}

// unsupported is what a kind of filter cannot do. Its text does without that of
// errors.ErrUnsupported.
type unsupported struct{ kind, verb string }

func (u *unsupported) Error() string { return "kind " + u.kind + " cannot " + u.verb }
func (u *unsupported) Unwrap() error { return errors.ErrUnsupported }

// Unsupported returns the error of a package about what a kind cannot do. It matches
// errors.ErrUnsupported.
func Unsupported(pkg, kind, verb string) error {
	return &Error{Package: pkg, Err: &unsupported{kind, verb}}
}
