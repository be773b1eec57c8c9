package perennial

import (
	"errors"
	"io"

	"github.com/everbloom-go/everbloom/internal/frame"
)

// partLines is how many lines a stream copies at a time: a MiB.
const partLines = 1 << 14

var (
	errStreamReplaced = errors.New("perennial: stream: another one began before this one ended")
	errStreamEnded    = errors.New("perennial: stream: the filter is not accessible any more")
)

// A capture is the lines of a ring as they were when it began, while the ring changes:
// those that were not copied yet are kept before they change.
type capture struct {
	ring  *ring
	part  uint64 // lines to copy at a time
	next  uint64 // the first line that is not copied yet
	total uint64
	kept  map[uint64]line
}

// Stream is Snapshot without a copy of the whole: it captures the filter as it is now, but
// copies the lines part by part while the result is written, each part inside of a call of
// exclusive. That must run the function while nothing else changes the filter, or return
// false. Meanwhile changes keep what they overwrite. There is one stream at a time: if
// another begins, writing the first fails.
func (f *Filter) Stream(exclusive func(func()) bool) io.WriterTo {
	return f.stream(partLines, exclusive)
}

func (f *Filter) stream(part uint64, exclusive func(func()) bool) io.WriterTo {
	r := f.ring.Load()
	c := &capture{ring: r, part: part, total: r.layout.total, kept: make(map[uint64]line)}
	r.capture = c
	head := r.head()
	return r.image(func(w io.Writer) error {
		defer exclusive(c.end)
		if err := frame.WriteWords(w, head); err != nil {
			return err
		}
		return c.write(w, exclusive)
	})
}

func (c *capture) write(w io.Writer, exclusive func(func()) bool) error {
	part := make([]uint64, 0, min(c.part, c.total)*lineBits/64)
	for c.next < c.total {
		var err error
		if !exclusive(func() { part, err = c.copy(part[:0]) }) {
			return errStreamEnded
		}
		if err != nil {
			return err
		}
		if err := frame.WriteWords(w, part); err != nil {
			return err
		}
	}
	return nil
}

// copy appends the next lines.
func (c *capture) copy(part []uint64) ([]uint64, error) {
	if c.ring.capture != c {
		return nil, errStreamReplaced
	}
	for end := min(c.next+c.part, c.total); c.next < end; c.next++ {
		l, ok := c.kept[c.next]
		if !ok {
			l = *c.ring.at(c.next)
		}
		delete(c.kept, c.next)
		part = append(part, l[:]...)
	}
	return part, nil
}

// end lets the ring change without it.
func (c *capture) end() {
	if c.ring.capture == c {
		c.ring.capture = nil
	}
}

// keep is called before line i changes or goes.
func (r *ring) keep(i uint64) {
	if c := r.capture; c != nil && i >= c.next && i < c.total {
		if _, ok := c.kept[i]; !ok {
			c.kept[i] = *r.at(i)
		}
	}
}
