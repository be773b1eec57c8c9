package perennial

import (
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// The filter is stored in the common envelope (internal/frame), words little endian:
//
//	kind 12    shape lines, width, fill, fpr, most, salt
//	payload    1 word   keys
//	           1 word   number of extras
//	           3 words for each: the first bits of keys, how many, how often it is there
//	           8 words for each line, in the order of memory
//
// The number of lines gives the layout. The lines of the shape are the fewest that the
// filter may have. The whole ring is verified when it is read. The format is version 1: do
// not change.
const formatVersion = 1

// Snapshot captures the filter as it is now, in memory of its own. If there is no memory,
// writing it says so.
func (f *Filter) Snapshot() io.WriterTo {
	c, err := f.Clone()
	if err != nil {
		return frame.Failed(fmt.Errorf("perennial: snapshot: %w", err))
	}
	return c.Image()
}

// Image is Snapshot without the copy: the filter must not be changed before the result is
// written.
func (f *Filter) Image() io.WriterTo {
	r := f.ring.Load()
	return r.image(r.writeLines)
}

// image returns the file of the ring as it is now, with a payload that is written later.
func (r *ring) image(payload func(io.Writer) error) *frame.Image {
	s := r.shape
	s.Lines = r.least
	return &frame.Image{
		Header: frame.Header{
			Kind:    frame.Perennial,
			Version: formatVersion,
			Shape:   frame.ShapeOf(s),
			Summary: r.summary(),
			Payload: 8*(2+extraWords*uint64(len(r.extras.Load().all()))) + r.layout.total*lineBits/8,
		},
		Payload: payload,
	}
}

func (r *ring) summary() frame.Summary {
	return frame.Summary{Keys: r.keys, SetBits: r.slots, FastBits: r.layout.total*lineBits + 64*extraWords*uint64(len(r.extras.Load().all()))}
}

// head returns the words of the payload before the lines.
func (r *ring) head() []uint64 {
	list := r.extras.Load().all()
	words := []uint64{r.keys, uint64(len(list))}
	for _, e := range list {
		words = append(words, e.bits, uint64(e.n), e.count)
	}
	return words
}

func (r *ring) writeLines(w io.Writer) error {
	if err := frame.WriteWords(w, r.head()); err != nil {
		return err
	}
	for i := range r.layout.total {
		if err := frame.WriteWords(w, r.at(i)[:]); err != nil {
			return err
		}
	}
	return nil
}

// Read reads what Snapshot wrote.
func Read(src io.Reader) (*Filter, error) {
	r, s, err := frame.OpenAs(src, frame.Perennial, formatVersion, Shape.check)
	if err != nil {
		return nil, err
	}
	var head [2]uint64
	if err := r.ReadWordsInto(head[:]); err != nil {
		return nil, err
	}
	extra := r.Left() / (8 * extraWords)
	if head[1] > extra {
		return nil, r.Corrupt("payload: extras", head[1], fmt.Sprintf("at most %d", extra))
	}
	list, err := readExtras(r, head[1])
	if err != nil {
		return nil, err
	}
	lines := r.Left() / (lineBits / 8)
	if r.Left() != lines*lineBits/8 || lines < s.Lines || lines > maxLines {
		return nil, r.Corrupt("payload: bytes", r.Left(), fmt.Sprintf("%d for each of at least %d lines", lineBits/8, s.Lines))
	}
	ring, err := readRing(r, s, lines)
	if err != nil {
		return nil, err
	}
	ring.extras.Store(list)
	ring.keys = head[0]
	if err := ring.recount(); err != nil {
		return nil, r.Corrupt("payload", err, nil)
	}
	if err := r.CheckSummary(ring.summary()); err != nil {
		return nil, err
	}
	f := new(Filter)
	f.ring.Store(ring)
	return f, r.Close()
}

// readExtras reads so many. Memory grows with what was read.
func readExtras(src *frame.Reader, n uint64) (*extras, error) {
	var list []extra
	for range n {
		var words [extraWords]uint64
		if err := src.ReadWordsInto(words[:]); err != nil {
			return nil, err
		}
		e := extra{prefix{words[0], uint(words[1])}, words[2]}
		if words[1] < 1 || words[1] > maxPrefix || e.bits<<e.n != 0 || len(list) > 0 && compareExtras(list[len(list)-1], e) >= 0 {
			return nil, src.Corrupt("payload: extra", e.prefix, "1 to 63 bits, in order")
		}
		list = append(list, e)
	}
	return newExtras(list), nil
}

// readRing reads the lines. Memory grows with what was read, not with what a header says.
func readRing(src *frame.Reader, s Shape, lines uint64) (*ring, error) {
	r, err := newRing(s, minLines)
	if err != nil {
		return nil, fmt.Errorf("perennial: read: %w", err)
	}
	for i := range lines {
		if err := r.lines.Grow(i + 1); err != nil {
			return nil, fmt.Errorf("perennial: read: %w: %w", filter.ErrStorage, err)
		}
		if err := src.ReadWordsInto(r.at(i)[:]); err != nil {
			return nil, err
		}
	}
	r.layout, r.least = layoutOf(lines), s.Lines
	r.seqs.Store(newSequences(r.layout))
	return r, nil
}
