package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/everbloom-go/everbloom/filter"
)

// A Line is one of a file.
type Line struct {
	Path string
	Text []byte // without its end
	Err  error  // why no more come from this file; Text is nil then
	At   Position
}

// A Position is that of a line in a file: to go on behind it after a restart. The zero
// Position is unknown.
type Position struct {
	Start, End int64
	Sum        uint64 // of the text; 0 if it is not known
}

// Options say how files are followed.
type Options struct {
	FromStart bool          // read what is there already; else only what comes
	Poll      time.Duration // how often to look for more; 0 means 250 ms
	After     Position      // go on behind this line, if the file has it; else read all of the file
}

// maxLine is the length from which on a line is cut.
const maxLine = 1 << 16

// A Follower reads the lines of a file that grows: those that are appended, and those of a
// file that takes its name. A file that is not there is waited for.
type Follower struct {
	follower
	poll time.Duration
}

// Open opens a file to be followed: from now on nothing that is appended is missed.
func Open(path string, o Options) (*Follower, error) {
	f := &Follower{follower{path: path, fromStart: o.FromStart || o.After != Position{}}, o.Poll}
	if f.poll == 0 {
		f.poll = 250 * time.Millisecond
	}
	if err := f.open(); err != nil || f.file == nil || o.After == (Position{}) {
		return f, err
	}
	return f, f.resume(o.After)
}

// Resumed reports whether the file has the line that was asked for, and is read from there.
func (f *Follower) Resumed() bool { return f.resumed }

// resume goes on behind a line, if the file has it.
func (f *follower) resume(p Position) error {
	if p.Start < 0 || p.End < p.Start || p.End > f.info.Size() {
		return nil
	}
	text := make([]byte, min(p.End-p.Start, maxLine))
	if _, err := f.file.ReadAt(text, p.Start); err != nil {
		return err
	}
	if p.Sum != 0 && sum(trimmed(text)) != p.Sum {
		return nil
	}
	f.resumed, f.offset, f.started = true, p.End, p.End
	_, err := f.file.Seek(p.End, io.SeekStart)
	return err
}

func trimmed(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }

func sum(text []byte) uint64 { return uint64(filter.KeyOf(text)) | 1 }

// Position returns where a file begins to be read: behind its last line, by which the file is
// known again.
func (f *Follower) Position() Position {
	p := Position{f.offset, f.offset, sum(nil)}
	if f.file == nil {
		return p
	}
	before := make([]byte, min(f.offset, maxLine))
	if _, err := f.file.ReadAt(before, f.offset-int64(len(before))); err != nil {
		return p // it was cut off meanwhile
	}
	text := trimmed(before)
	last := before[bytes.LastIndexByte(text, '\n')+1:]
	p.Start, p.Sum = f.offset-int64(len(last)), sum(trimmed(last))
	return p
}

// Missing reports whether there is no file yet.
func (f *Follower) Missing() bool { return f.file == nil }

// Run sends lines to the channel until the context ends.
func (f *Follower) Run(ctx context.Context, to chan<- Line) {
	f.to = to
	defer f.close()
	for {
		err := f.step(ctx)
		if err != nil {
			f.send(ctx, Line{Path: f.path, Err: err})
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(f.poll):
		}
	}
}

// Read sends the lines of a reader, such as the standard input, and then why it ended.
func Read(ctx context.Context, path string, r io.Reader, to chan<- Line) {
	f := &follower{path: path, to: to, lines: bufio.NewReaderSize(r, maxLine)}
	for {
		more, err := f.line(ctx)
		if !more {
			f.flush(ctx)
			f.send(ctx, Line{Path: path, Err: err})
			return
		}
	}
}

type follower struct {
	path      string
	to        chan<- Line
	fromStart bool
	file      *os.File
	info      os.FileInfo // of the file when it was opened
	offset    int64
	started   int64 // where the present line begins
	resumed   bool
	lines     *bufio.Reader
	rest      []byte // of a line whose end has not come
	cut       bool   // the rest is too long, and what follows is dropped
}

func (f *follower) close() {
	if f.file != nil {
		_ = f.file.Close() // nothing was written
	}
	f.file = nil
}

// step reads what there is, and goes over to the file that has taken the name.
func (f *follower) step(ctx context.Context) error {
	if f.file == nil {
		if err := f.open(); err != nil || f.file == nil {
			return err
		}
	}
	if err := f.readAll(ctx); err != nil {
		return err
	}
	now, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it was moved away, and may still grow
	case err != nil:
		return err
	case !os.SameFile(now, f.info):
		if err := f.readAll(ctx); err != nil { // what came before it was renamed
			return err
		}
		f.flush(ctx)
		f.close()
		return f.step(ctx)
	case now.Size() < f.offset: // it was truncated
		f.rest, f.offset, f.started = nil, 0, 0
		if _, err := f.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		f.lines.Reset(f.file)
	}
	return nil
}

// open opens the file, at its end if that is where to begin. One that comes later is read
// from its start.
func (f *follower) open() error {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		f.fromStart = true
		return nil
	}
	if err != nil {
		return err
	}
	f.file, f.offset, f.started, f.rest = file, 0, 0, nil
	if f.info, err = file.Stat(); err != nil {
		return err
	}
	if f.info.IsDir() {
		return errors.New("is a folder")
	}
	if !f.fromStart {
		if f.offset, err = file.Seek(0, io.SeekEnd); err != nil {
			return err
		}
		f.started = f.offset
	}
	f.fromStart = true
	f.lines = bufio.NewReaderSize(file, maxLine)
	return nil
}

func (f *follower) readAll(ctx context.Context) error {
	for {
		more, err := f.line(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if !more {
			return err
		}
	}
}

// line reads a line, or a part of one, and sends it if its end has come.
func (f *follower) line(ctx context.Context) (more bool, err error) {
	part, err := f.lines.ReadSlice('\n')
	f.offset += int64(len(part))
	ended := bytes.HasSuffix(part, []byte("\n"))
	if room := maxLine - len(f.rest); len(part) > room {
		part, f.cut = part[:room], true
	}
	f.rest = append(f.rest, part...)
	if ended {
		f.flush(ctx)
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		err = nil
	}
	return err == nil && ctx.Err() == nil, errors.Join(err, ctx.Err())
}

// flush sends the line as far as it has come.
func (f *follower) flush(ctx context.Context) {
	if text := trimmed(f.rest); len(text) > 0 {
		f.send(ctx, Line{Path: f.path, Text: bytes.Clone(text), At: Position{f.started, f.offset, sum(text)}})
	}
	f.rest, f.cut, f.started = f.rest[:0], false, f.offset
}

func (f *follower) send(ctx context.Context, l Line) {
	select {
	case f.to <- l:
	case <-ctx.Done():
	}
}
