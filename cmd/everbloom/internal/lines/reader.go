package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	blockSize = 256 << 10 // bytes of a block, longer lines aside
	keepSize  = 1 << 20   // larger memory, which only long lines need, is not kept
)

// A Block is a run of whole lines of one input. Its memory belongs to the caller
// of Next and is used again.
type Block struct {
	Text  []byte
	Name  string // of the input
	First int    // number of the first line, from 1

	rules *Rules
	spans []Span // memory of Cut
}

// Lines returns the number of lines.
func (b *Block) Lines() int {
	end := b.rules.End()
	n := bytes.Count(b.Text, []byte{end})
	if len(b.Text) > 0 && b.Text[len(b.Text)-1] != end {
		n++
	}
	return n
}

// Reader cuts an input into blocks.
type Reader struct {
	in      *Input
	next    int // source to be opened next
	name    string
	src     *stream // nil between sources
	pending error   // came with the last bytes, to be met after them
	tail    []byte  // of a line whose end has not been read
	line    int     // number of the line that comes next
}

// Reader returns a reader that begins with the first byte.
func (in *Input) Reader() *Reader {
	in.read.Store(0)
	return &Reader{in: in}
}

// Next puts the next lines into b, at least one, as many as are at hand: it does
// not wait for more once it has some. After the last it returns io.EOF. Any
// other error is an *Error.
func (r *Reader) Next(b *Block) error {
	for {
		if r.src == nil {
			if err := r.open(); err != nil {
				return err
			}
		}
		err := r.fill(b)
		if !errors.Is(err, io.EOF) {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
}

// open opens the next source; io.EOF if there is none.
func (r *Reader) open() (err error) {
	if r.next == len(r.in.sources) {
		return io.EOF
	}
	s := r.in.sources[r.next]
	if r.src, err = r.in.open(s); err != nil {
		return err
	}
	r.next++
	r.name, r.line = s.name, 1
	return nil
}

// Close gives back what an unfinished Reader holds.
func (r *Reader) Close() error {
	if r.src == nil {
		return nil
	}
	src := r.src
	r.src, r.pending, r.tail = nil, nil, r.tail[:0]
	if err := src.Close(); err != nil {
		return &Error{Name: r.name, Err: reason(err)}
	}
	return nil
}

// fill reads until there is a line, or a last line without end.
func (r *Reader) fill(b *Block) error {
	text := append(recycle(b.Text), r.tail...)
	r.tail = recycle(r.tail)
	for {
		start := len(text)
		var err error
		text, err = r.more(text)
		end := start + bytes.LastIndexByte(text[start:], r.in.rules.End()) + 1
		if err := r.checkLength(text, start); err != nil {
			return err
		}
		switch {
		case end > start:
			r.pending = err
			r.tail = append(r.tail, text[end:]...)
			return r.deliver(b, text, end)
		case errors.Is(err, io.EOF) && len(text) > 0:
			r.pending = io.EOF
			return r.deliver(b, text, len(text))
		case errors.Is(err, io.EOF):
			return io.EOF
		case err != nil:
			return &Error{Name: r.name, Line: r.line, Err: r.src.explain(err)}
		}
	}
}

// deliver hands over the lines of text, which end at end, as a block, unless text
// shows that the input is no list.
func (r *Reader) deliver(b *Block, text []byte, end int) error {
	if r.line == 1 {
		if err := r.in.rules.check(text); err != nil {
			return &Error{Name: r.name, Err: err}
		}
	}
	b.Text, b.Name, b.First, b.rules = text[:end], r.name, r.line, &r.in.rules
	r.line += b.Lines()
	return nil
}

// recycle empties b, and lets go of memory that is too large to be kept.
func recycle(b []byte) []byte {
	if cap(b) > keepSize {
		return nil
	}
	return b[:0]
}

// more appends to text what one Read gives.
func (r *Reader) more(text []byte) ([]byte, error) {
	if r.pending != nil {
		return text, r.pending
	}
	if len(text) == cap(text) {
		text = slices.Grow(text, max(blockSize, min(len(text), MaxLine+blockSize-len(text))))
	}
	const patience = 100 // as in package bufio
	for range patience {
		n, err := r.src.Read(text[len(text):cap(text)])
		if n > 0 || err != nil {
			return text[:len(text)+n], err
		}
	}
	return text, io.ErrNoProgress
}

// checkLength refuses a first line that is too long. Only the first can be: the
// others lie within what was read since start, at once.
func (r *Reader) checkLength(text []byte, start int) error {
	if len(text) <= MaxLine {
		return nil
	}
	if first := bytes.IndexByte(text[start:], r.in.rules.End()); first >= 0 && start+first <= MaxLine {
		return nil
	}
	err := fmt.Errorf("line is longer than %d MiB: is this a list of keys, one per line?", MaxLine>>20)
	return &Error{Name: r.name, Line: r.line, Err: err}
}
