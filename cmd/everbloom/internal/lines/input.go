package lines

import (
	"bytes"
	"errors"
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
	rules   Rules
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
func Open(names []string, stdin io.Reader, rules Rules) (*Input, error) {
	if len(names) == 0 {
		names = []string{Stdin}
	}
	in := &Input{stdin: stdin, rules: rules}
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

// ErrFolder is the reason for an input that is no file.
var ErrFolder = errors.New("is a folder: name the files in it")

// checkFile tries to open regular files; opening a pipe would disturb it.
func checkFile(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, reason(err)
	}
	if info.IsDir() {
		return nil, ErrFolder
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

// open returns the text of s.
func (in *Input) open(s source) (*stream, error) {
	raw := &counter{r: in.stdin, n: &in.read}
	var file []io.Closer // the standard input stays open
	if s.name != Stdin {
		f, err := os.Open(s.name)
		if err != nil {
			return nil, &Error{Name: s.name, Err: reason(err)}
		}
		raw.r, file = f, append(file, f)
	}
	text, err := newStream(raw)
	if err != nil {
		text = &stream{closer: file}
		return nil, errors.Join(&Error{Name: s.name, Err: err}, text.Close())
	}
	text.closer = append(text.closer, file...)
	return text, nil
}

// counter counts the bytes that pass.
type counter struct {
	r    io.Reader
	n    *atomic.Int64
	tail [2]byte // the last bytes but for zeros
	err  error   // of r, its end aside
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	ended := bytes.TrimRight(p[:n], "\x00")
	for _, b := range ended[max(0, len(ended)-len(c.tail)):] {
		c.tail[0], c.tail[1] = c.tail[1], b
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
