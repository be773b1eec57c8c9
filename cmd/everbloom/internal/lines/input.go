package lines

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// Stdin is the name that stands for the standard input, as an argument and in
// messages.
const Stdin = "-"

// Input is a list of files and pipes to be read one after the other.
type Input struct {
	sources []source
	stdin   io.Reader
	read    atomic.Int64
}

// source is a file, or the standard input.
type source struct {
	name string
	info fs.FileInfo // nil if unknown
	same fs.FileInfo // what the file is, also for the standard input; nil if unknown
}

// Open checks that the named inputs can be read, so that most problems come up
// before any work is done. No names mean the standard input.
func Open(names []string, stdin io.Reader) (*Input, error) {
	if len(names) == 0 {
		names = []string{Stdin}
	}
	in := &Input{stdin: stdin}
	for _, name := range names {
		s := source{name: name}
		var err error
		if name == Stdin {
			err = in.checkStdin()
			s.same = statOf(stdin)
		} else {
			s.info, err = checkFile(name)
			s.same = s.info
		}
		if err != nil {
			return nil, &Error{Name: name, Err: err}
		}
		in.sources = append(in.sources, s)
	}
	return in, nil
}

// checkStdin refuses the standard input where it was named before: the second
// time nothing would be left of it.
func (in *Input) checkStdin() error {
	for _, s := range in.sources {
		if s.name == Stdin {
			return errors.New("the standard input is named twice: name it once")
		}
	}
	return nil
}

// statOf returns which file a reader reads, if it is one.
func statOf(r io.Reader) fs.FileInfo {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			return info
		}
	}
	return nil
}

// checkFile tries to open regular files; opening a pipe would disturb it.
func checkFile(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, reason(err)
	}
	if info.IsDir() {
		return nil, errors.New("is a folder: name the files in it")
	}
	if info.Mode().IsRegular() {
		f, err := os.Open(name)
		if err != nil {
			return nil, reason(err)
		}
		_ = f.Close() // nothing was written
	}
	return info, nil
}

// reason returns what is wrong, without the verb and the name that an error of
// package os repeats.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Again reports whether the input can be read a second time.
func (in *Input) Again() bool {
	for _, s := range in.sources {
		if s.info == nil || !s.info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// Size returns the number of bytes of all inputs, or 0 if it is not known.
func (in *Input) Size() int64 {
	if !in.Again() {
		return 0
	}
	var sum int64
	for _, s := range in.sources {
		sum += s.info.Size()
	}
	return sum
}

// Done returns the number of bytes read so far, as stored: compressed ones of
// compressed inputs. It may be called while others read.
func (in *Input) Done() int64 { return in.read.Load() }

// Names reports whether the input includes the file at path, by whatever name.
func (in *Input) Names(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	for _, s := range in.sources {
		if s.same != nil && os.SameFile(s.same, info) {
			return true
		}
	}
	return false
}

// open returns the text of s and a function that gives back what it holds.
func (in *Input) open(s source) (io.Reader, func() error, error) {
	var (
		raw    = in.stdin
		closer = func() error { return nil }
	)
	if s.name != Stdin {
		f, err := os.Open(s.name)
		if err != nil {
			return nil, nil, &Error{Name: s.name, Err: reason(err)}
		}
		raw, closer = f, f.Close
	}
	text, err := decompress(&counter{raw, &in.read})
	if err != nil {
		return nil, nil, errors.Join(&Error{Name: s.name, Err: err}, closer())
	}
	return text, closer, nil
}

// counter counts the bytes that pass.
type counter struct {
	r io.Reader
	n *atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// decompress returns r, or what r holds if that begins as gzip data does. Of a
// slow input it waits for no more than the first byte.
func decompress(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if first, err := b.Peek(1); err != nil || first[0] != 0x1f {
		return b, nil // an error comes again with the first Read
	}
	if head, err := b.Peek(3); err != nil || head[1] != 0x8b || head[2] != 8 {
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", reason(err))
	}
	return z, nil
}
