package resp

import (
	"bytes"
	"io"
)

const (
	firstBuffer = 4 << 10
	keptBuffer  = 1 << 20 // larger ones are let go when they are empty
)

// A Reader takes commands from a stream. It is used by one goroutine.
type Reader struct {
	src    io.Reader
	limits Limits
	err    error // of the protocol: it stays

	buf   []byte
	start int // of the command that is being parsed
	end   int // of what has arrived

	// The command at start, as far as it was parsed. Positions are relative to start,
	// because Fill moves the bytes.
	at    int    // the next byte to look at
	from  int    // the next byte to look at for the end of a line
	left  int    // arguments still to come; 0 outside of a command
	bulk  int    // bytes of the argument at position at; -1 if its length is to come
	spans []span // of the arguments before

	args [][]byte // memory of the arguments since the last Fill
}

type span struct{ from, to int }

// NewReader returns a Reader for peers that may send what l allows.
func NewReader(src io.Reader, l Limits) *Reader {
	return &Reader{src: src, limits: l, buf: make([]byte, firstBuffer), bulk: -1}
}

// SetLimits changes what the peer may send from the next command on.
func (r *Reader) SetLimits(l Limits) { r.limits = l }

// Fill waits for bytes and takes in what has arrived. Arguments that Next returned are
// overwritten.
func (r *Reader) Fill() error {
	clear(r.args)
	r.args = r.args[:0]
	if cap(r.args) > keptBuffer/16 {
		r.args = nil
	}
	r.makeRoom()
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// makeRoom sees to it that Fill can read something. The buffer doubles only when it is
// full of bytes of one command.
func (r *Reader) makeRoom() {
	size := r.end - r.start
	switch {
	case len(r.buf) > keptBuffer && size < keptBuffer/2:
		r.move(make([]byte, keptBuffer))
	case size == len(r.buf):
		r.move(make([]byte, 2*len(r.buf)))
	case r.start > 0:
		r.move(r.buf)
	}
}

func (r *Reader) move(to []byte) {
	r.end = copy(to, r.buf[r.start:r.end])
	r.start, r.buf = 0, to
}

// Next returns the next command that is complete in the buffer, or nil if there is none.
// Its arguments are good until Fill. A command has one argument at least.
func (r *Reader) Next() ([][]byte, error) {
	for r.err == nil {
		switch {
		case r.left > 0:
			if !r.bulks() {
				return nil, r.err
			}
			return r.take(), nil
		case r.start == r.end:
			return nil, nil
		case r.buf[r.start] == '*':
			if args := r.quick(); args != nil {
				return args, nil
			}
			if !r.count() {
				return nil, r.err
			}
		default:
			args, ok := r.inline()
			if !ok || len(args) > 0 {
				return args, r.err
			}
		}
	}
	return nil, r.err
}

// fail keeps a protocol error.
func (r *Reader) fail(err ProtocolError) bool {
	r.err = err
	return false
}

// skip ends the command that is being parsed.
func (r *Reader) skip(n int) {
	r.start += n
	r.at, r.from, r.left, r.bulk, r.spans = 0, 0, 0, -1, r.spans[:0]
}

// line returns the line at position at, without its end. As in Redis it ends with a
// carriage return and any byte.
func (r *Reader) line(tooLong ProtocolError) (line []byte, ok bool) {
	have := r.buf[r.start:r.end]
	i := bytes.IndexByte(have[r.from:], '\r')
	if i < 0 || r.from+i+1 == len(have) {
		if len(have)-r.at > maxLine {
			return nil, r.fail(tooLong)
		}
		r.from = len(have)
		if i >= 0 {
			r.from--
		}
		return nil, false
	}
	end := r.from + i
	if end-r.at > maxLine {
		return nil, r.fail(tooLong)
	}
	line = have[r.at:end]
	r.at, r.from = end+2, end+2
	return line, true
}

// count parses the number of arguments. It reports false if that is not there yet or is
// wrong.
func (r *Reader) count() bool {
	line, ok := r.line(errCountLine)
	if !ok {
		return false
	}
	n, ok := ParseInt(line[1:])
	switch {
	case !ok || n > 1<<31-1:
		return r.fail(errCount)
	case n > int64(r.limits.Args):
		return r.fail(r.limits.tooMany())
	case n <= 0:
		r.skip(r.at)
	default:
		r.left = int(n)
	}
	return true
}

// bulks parses arguments up to the last one of the command.
func (r *Reader) bulks() bool {
	for r.left > 0 {
		if r.bulk < 0 && !r.length() {
			return false
		}
		if r.end-r.start-r.at < r.bulk+2 {
			return false
		}
		r.spans = append(r.spans, span{r.at, r.at + r.bulk})
		r.at += r.bulk + 2
		r.from, r.bulk = r.at, -1
		r.left--
	}
	return true
}

// length parses the length of an argument.
func (r *Reader) length() bool {
	if r.start+r.at < r.end {
		if c := r.buf[r.start+r.at]; c != '$' {
			return r.fail(ProtocolError("expected '$', got '" + printable(c) + "'"))
		}
	}
	line, ok := r.line(errBulkLine)
	if !ok {
		return false
	}
	n, ok := ParseInt(line[1:])
	switch {
	case !ok || n < 0:
		return r.fail(errBulk)
	case n > int64(r.limits.Bulk):
		return r.fail(r.limits.tooLong())
	case r.at+int(n) > r.limits.Command:
		return r.fail(errCommand)
	}
	r.bulk = int(n)
	return true
}

// printable returns a byte as it may stand in an error. A line end would cut the reply
// in two.
func printable(c byte) string {
	if c < ' ' || c > '~' {
		return "?"
	}
	return string(rune(c))
}

// take returns the parsed command.
func (r *Reader) take() [][]byte {
	first := len(r.args)
	for _, s := range r.spans {
		r.args = append(r.args, r.buf[r.start+s.from:r.start+s.to:r.start+s.to])
	}
	r.skip(r.at)
	if cap(r.spans) > keptBuffer/16 {
		r.spans = nil
	}
	return r.args[first:len(r.args):len(r.args)]
}

// ParseInt understands a decimal number as Redis does: no sign but a minus, no leading
// zeros, no spaces.
func ParseInt(b []byte) (n int64, ok bool) {
	digits := b
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 19 || digits[0] == '0' && len(b) > 1 {
		return 0, false
	}
	var u uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		u = 10*u + uint64(c-'0')
	}
	if negative {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u < 1<<63
}
