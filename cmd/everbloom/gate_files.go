package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// fromFile reads a file and adds its name to errors, but for interrupts.
func fromFile(path string, read func(io.Reader) error) error {
	file, err := os.Open(path)
	if err != nil {
		return within(path, "%w", systemReason(err))
	}
	defer func() { _ = file.Close() }() // nothing was written
	return inFile(path, read(file))
}

// fromList reads a list in a file, which may be compressed.
func fromList(path string, read func(io.Reader) error) error {
	return fromFile(path, func(r io.Reader) error { return lines.Unpack(r, read) })
}

// fromInput reads a file, or the standard input if that is what the name stands for.
func (e *env) fromInput(path string, read func(io.Reader) error) error {
	if path == lines.Stdin {
		return inFile(path, read(e.stdin))
	}
	return fromFile(path, read)
}

func inFile(path string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return within(path, "%s", strings.ReplaceAll(fault.Text(err), bufio.ErrTooLong.Error(), "the line is too long"))
}

// An output is a file that is being written, or the standard output.
type output struct {
	io.Writer
	path string
	file *os.File // nil if it is the standard output
}

// create begins to write a file; a hyphen is the standard output. The file is opened
// for writing only: a reader of a pipe keeps it from breaking.
func (e *env) create(path string) (*output, error) {
	if path == lines.Stdin {
		return &output{Writer: e.stdout, path: path}, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, unwritable(path, err)
	}
	return &output{Writer: file, path: path, file: file}, nil
}

// finish closes the file, after what came of writing it. A part of a file might be
// taken for the whole, so nothing is left of one that failed.
func (o *output) finish(err error) error {
	if o.file == nil {
		return err
	}
	info, unknown := o.file.Stat()
	err = errors.Join(err, o.file.Close())
	if err == nil {
		return nil
	}
	if unknown == nil && info.Mode().IsRegular() {
		_ = os.Remove(o.path) // there is a more important error to be told
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return unwritable(o.path, err)
}

// toFile writes a file, all of it or an error.
func (e *env) toFile(path string, write func(io.Writer) error) error {
	o, err := e.create(path)
	if err != nil {
		return err
	}
	return o.finish(write(o))
}

// countingReader counts what was read, for a bar.
type countingReader struct {
	io.Reader
	n *atomic.Int64
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// sizeOf returns the bytes of all files, or 0 if that is not known.
func sizeOf(paths []string) (total int64) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		total += info.Size()
	}
	return total
}
