package lines

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// maxWindow bounds the memory that a compressed input asks for: that of zstd
// --ultra -22, and twice that of xz -9.
const maxWindow = 128 << 20

// errWindow is not about damage, so it needs its own text.
var errWindow = fmt.Errorf("needs more than %d MiB of memory: decompress it with its own tool and pipe it in", maxWindow>>20)

// format is a way to compress.
type format struct {
	name  string
	magic string                                                     // a question mark stands for any byte
	open  func(r *bufio.Reader, raw *counter) (io.ReadCloser, error) // r reads from raw
}

// formats are told apart by how their data begins.
var formats = []format{
	{"gzip", "\x1f\x8b\x08", openGzip},
	{"zstd", "\x28\xb5\x2f\xfd", openZstd},
	{"xz", "\xfd7zXZ\x00", openXz},
	{"bzip2", "BZh?1AY&SY", openBzip2},
	{"bzip2", "BZh?\x17rE8P\x90", openBzip2}, // of nothing
}

// matches reports whether head agrees with the magic as far as both go.
func (f *format) matches(head []byte) bool {
	for i := range min(len(head), len(f.magic)) {
		if f.magic[i] != '?' && f.magic[i] != head[i] {
			return false
		}
	}
	return true
}

// detect returns the format of what r holds, nil if it is not compressed. Of a
// slow input it waits for no more bytes than are needed to tell.
func detect(r *bufio.Reader) *format {
	for n := 1; ; n++ {
		head, err := r.Peek(n)
		if err != nil {
			return nil // it comes again with the first Read
		}
		possible := false
		for i := range formats {
			f := &formats[i]
			if !f.matches(head) {
				continue
			}
			if len(f.magic) == n {
				return f
			}
			possible = true
		}
		if !possible {
			return nil
		}
	}
}

func openGzip(r *bufio.Reader, _ *counter) (io.ReadCloser, error) { return gzip.NewReader(r) }

func openBzip2(r *bufio.Reader, _ *counter) (io.ReadCloser, error) {
	return io.NopCloser(bzip2.NewReader(r)), nil
}

// openZstd decodes in the calling goroutine: blocks are worked on in parallel
// anyhow.
func openZstd(r *bufio.Reader, _ *counter) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

func openXz(r *bufio.Reader, raw *counter) (io.ReadCloser, error) {
	if xzWindow(r) > maxWindow {
		return nil, errWindow
	}
	x, err := xz.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(&xzReader{x, raw}), nil
}

// xzReader finds out whether data was cut between two blocks, which the decoder
// takes for the end: all xz data ends with "YZ", but for zero bytes.
type xzReader struct {
	r   *xz.Reader
	raw *counter
}

func (x *xzReader) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	if errors.Is(err, io.EOF) && string(x.raw.tail[:]) != "YZ" {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// xzWindow returns the window that the first block asks for, 0 if that is not
// plain; then the decoder says what is wrong. The decoder itself has no limit.
//
//	stream header 12 | header size 1 | flags 1 | sizes | filter 0x21 | 1 | window 1
func xzWindow(r *bufio.Reader) int64 {
	const start, sizes, lzma2 = 12, 0xC0, 0x21
	head, _ := r.Peek(start + 32)
	if len(head) < start+5 {
		return 0
	}
	rest := head[start+2:]
	for flags := head[start+1] & sizes; flags != 0; flags &= flags - 1 {
		for len(rest) > 0 && rest[0] >= 0x80 {
			rest = rest[1:]
		}
		rest = rest[min(1, len(rest)):]
	}
	if len(rest) < 3 || rest[0] != lzma2 || rest[1] != 1 {
		return 0
	}
	window, err := lzma.DecodeDictCap(rest[2])
	if err != nil {
		return 0
	}
	return window
}

// stream is the text of one input.
type stream struct {
	io.Reader
	format *format // nil if it is not compressed
	raw    *counter
	closer []io.Closer
}

// newStream returns the text of r, which it decompresses if need be.
func newStream(r *counter) (*stream, error) {
	b := bufio.NewReader(r)
	s := &stream{Reader: b, raw: r}
	if s.format = detect(b); s.format == nil {
		return s, nil
	}
	text, err := s.format.open(b, r)
	if err != nil {
		return nil, s.explain(err)
	}
	s.Reader, s.closer = text, append(s.closer, text)
	return s, nil
}

// Unpack lets read read the text of r, which it decompresses if need be.
func Unpack(r io.Reader, read func(io.Reader) error) error {
	s, err := newStream(&counter{r: r, n: new(atomic.Int64)})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it repeats what reading has told
	return read(explained{s})
}

// explained is a stream whose errors say what they are about.
type explained struct{ *stream }

func (e explained) Read(p []byte) (int, error) {
	n, err := e.stream.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = e.explain(err)
	}
	return n, err
}

// Close gives back what s holds.
func (s *stream) Close() error {
	var errs []error
	for _, c := range s.closer {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// explain says whether err is one of reading or of decompressing.
func (s *stream) explain(err error) error {
	switch {
	case s.format == nil, s.raw.err != nil:
		return reason(err)
	case errors.Is(err, errWindow), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return errWindow
	}
	return fmt.Errorf("%s data is damaged: %w", s.format.name, err)
}
