package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/everbloom-go/everbloom/filter"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/internal/replace"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Exit statuses, those of grep where they have a counterpart.
const (
	exitOK          = 0
	exitNone        = 1 // nothing was selected, some keys could not be deleted, or a strict check differs
	exitError       = 2
	exitInterrupted = 130
	exitBrokenPipe  = 141
)

// failure is an error of a verb at work; other errors are about the command line.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// errNone ends a verb with exitNone, without a message.
var errNone = errors.New("none")

// partial is an interrupted verb that has kept something.
type partial struct {
	error
	kept string // what, and how to go on
}

func (p *partial) Unwrap() error { return p.error }

// interrupted says what an interrupted verb leaves behind.
func interrupted(err error) string {
	var p *partial
	if errors.As(err, &p) {
		return "interrupted: " + p.kept
	}
	return "interrupted: nothing was changed"
}

// report says what went wrong and returns the exit status.
func (e *env) report(cmd *cobra.Command, err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNone):
		return exitNone
	case errors.Is(err, syscall.EPIPE):
		return exitBrokenPipe // the reader of the output has seen enough
	case errors.Is(err, context.Canceled):
		e.say("%s", interrupted(err))
		return exitInterrupted
	}
	work := new(failure)
	if errors.As(err, &work) {
		err = work.err
	}
	for line := range strings.Lines(fault.Text(err)) {
		e.say("%s", strings.TrimSpace(line))
	}
	if work.err == nil {
		_, _ = fmt.Fprintf(e.stderr, "see %s --help\n", cmd.CommandPath())
	}
	return exitError
}

// say writes a line to the standard error. An error here cannot be told.
func (e *env) say(format string, args ...any) {
	_, _ = fmt.Fprintf(e.stderr, "everbloom: "+format+"\n", args...)
}

// fileError is an error with the name of the file that it is about in front.
type fileError struct {
	path string
	err  error
}

func (f *fileError) Error() string { return f.path + ": " + f.err.Error() }
func (f *fileError) Unwrap() error { return f.err }

// within adds the name of a file to an error.
func within(path string, format string, args ...any) error {
	return &fileError{path, fmt.Errorf(format, args...)}
}

// unreadable says what is wrong with the filter in a file, and what to do.
func unreadable(path string, err error) error {
	format := new(filter.FormatError)
	errors.As(err, &format)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, replace.ErrNoLocks):
		return within(path, "%w: two changes at a time could undo each other: write to another file with -o", replace.ErrNoLocks)
	case errors.Is(err, fs.ErrNotExist):
		return within(path, "no such file: make it with everbloom build -o %s", path)
	case errors.Is(err, syscall.EISDIR):
		return within(path, "is a folder: name a filter file")
	case errors.Is(err, filter.ErrNotFilter):
		return within(path, "not an everbloom file: name one that everbloom build wrote")
	case errors.Is(err, filter.ErrVersion), errors.Is(err, filter.ErrKind):
		return within(path, "%s: the file is of a newer release: update everbloom", format.Detail())
	case errors.Is(err, filter.ErrCorrupt):
		return within(path, "damaged: %s; rebuild it or restore a copy", format.Detail())
	}
	if format.Err != nil {
		return within(path, "%w", format.Err)
	}
	return within(path, "%w", systemReason(err))
}

// unwritable says why a file could not be written, and what to do.
func unwritable(path string, err error) error {
	switch reason := systemReason(err); {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, syscall.ENOSPC):
		return within(path, "%w: free some space and try again", reason)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return within(path, "cannot be written: %w: choose another folder with -o", reason)
	default:
		return within(path, "cannot be written: %w", reason)
	}
}

// systemReason returns what the system said, without the names of temporary
// files; err itself if it was not the system.
func systemReason(err error) error {
	var (
		path *fs.PathError
		link *os.LinkError
	)
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return errors.New(fault.Text(err))
}
