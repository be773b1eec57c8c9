package partition

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// A filter is stored in the common envelope (internal/frame) as kind 8:
//
//	shape    universe, idbits, depth, unitbits, hashes, full, count, salt
//	payload  the ids in ascending order: the first one, and then for each how much
//	         it is above the one before; 7 bits in a byte, the lowest first, and the
//	         highest bit of a byte says that another follows, as short as can be
//
// That is the map; the tree follows from it and is built by the reader. The
// summary's keys are the number of ids and its set bits those of all units of the
// tree: both must be true. The format is version 1: do not change.
//
// The tree can be much larger than the file. An id with a leaf to itself takes a whole
// unit, and a cluster that splits at every level may have one such id beside it at each:
// d units. But no node splits with fewer than Full/k ids, or Count, for which [Shape] has
// lower limits: n ids take at most one unit and 16·d·k bits for each id, 8 KiB if d and k
// are 64, and a quarter of that without a Count. For shapes of a Config it is d·k·m/Full,
// 600 to 900 bits at 0.01 %. Sets can be like that, so that no file is refused for it.
const formatVersion = 1

// Snapshot captures the filter as it is now, in memory of its own: the stored form,
// which is about a third of the filter. If there is no memory, writing it says so.
func (f *Filter) Snapshot() io.WriterTo {
	image := f.image()
	words, err := f.units.from.Words((image.Header.Payload + 7) / 8)
	if err != nil {
		return frame.Failed(fmt.Errorf("partition: snapshot: %w: %w", filter.ErrStorage, err))
	}
	p := packed{words: words}
	_ = f.writeIDs(&p) // never fails: the payload is as long as its header says
	image.Payload = p.writeTo
	return image
}

// Image is like Snapshot without the copy: the filter must not change before
// the result is written.
func (f *Filter) Image() io.WriterTo {
	image := f.image()
	image.Payload = f.writeIDs
	return image
}

// writeIDs writes the payload.
func (f *Filter) writeIDs(w io.Writer) error {
	var part []byte
	for gaps := range f.gaps() {
		part = appendGaps(part[:0], gaps)
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// packed holds bytes in words, which package mem gives out, the lowest byte first.
type packed struct {
	words []uint64
	n     int // bytes
}

// Write appends bytes, for which there must be room.
func (p *packed) Write(b []byte) (int, error) {
	for _, x := range b {
		p.words[p.n/8] |= uint64(x) << (p.n % 8 * 8)
		p.n++
	}
	return len(b), nil
}

func (p *packed) writeTo(w io.Writer) error {
	whole := p.n / 8
	if err := frame.WriteWords(w, p.words[:whole]); err != nil || p.n%8 == 0 {
		return err
	}
	var rest [8]byte
	binary.LittleEndian.PutUint64(rest[:], p.words[whole])
	_, err := w.Write(rest[:p.n%8])
	return err
}

// image returns the stored form without its payload.
func (f *Filter) image() *frame.Image {
	fast, slow := f.memory()
	size := 0
	for gaps := range f.gaps() {
		for _, gap := range gaps {
			size += (bits.Len64(gap|1) + 6) / 7
		}
	}
	return &frame.Image{Header: frame.Header{
		Kind:    frame.Partition,
		Version: formatVersion,
		Shape:   frame.ShapeOf(f.shape),
		Summary: frame.Summary{Keys: f.count, SetBits: f.set, FastBits: fast, SlowBits: slow},
		Payload: uint64(size),
	}}
}

// Read reads what Snapshot wrote. It takes about as long as a union.
func Read(src io.Reader) (*Filter, error) {
	r, s, err := frame.OpenAs(src, frame.Partition, formatVersion, Shape.check)
	if err != nil {
		return nil, err
	}
	d := &decoder{r: r, last: s.lastID()}
	f, err := assemble(s, d)
	if err := errors.Join(d.err, err); err != nil {
		return nil, err
	}
	sum := r.Header().Summary
	sum.Keys, sum.SetBits = f.count, f.set
	if err := r.CheckSummary(sum); err != nil {
		return nil, err
	}
	return f, r.Close()
}

// A decoder gives the ids of a file, and stops at the first thing that is wrong.
type decoder struct {
	r     *frame.Reader
	buf   []byte
	rest  []byte // of buf, not decoded yet
	id    uint64 // the latest
	last  uint64 // the largest that may be
	begun bool
	err   error
}

// bufferBytes is how much is read at once.
const bufferBytes = 16 << 10

// more decodes what is at hand, but for what may be the beginning of a number.
func (d *decoder) more(dst []uint64) []uint64 {
	if d.err = d.refill(); d.err != nil {
		return dst
	}
	for len(d.rest) >= binary.MaxVarintLen64 || len(d.rest) > 0 && d.r.Left() == 0 {
		gap, n := binary.Uvarint(d.rest)
		if d.err = d.step(gap, n); d.err != nil {
			return dst
		}
		dst = append(dst, d.id)
		d.rest = d.rest[n:]
	}
	return dst
}

// refill reads on, behind what is left of the buffer.
func (d *decoder) refill() error {
	if d.buf == nil {
		d.buf = make([]byte, min(bufferBytes, d.r.Left()+1))
	}
	kept := copy(d.buf, d.rest)
	n := kept + int(min(uint64(len(d.buf)-kept), d.r.Left()))
	d.rest = d.buf[:n]
	return d.r.ReadFull(d.buf[kept:n])
}

// step goes on by a gap that was decoded from n bytes.
func (d *decoder) step(gap uint64, n int) error {
	name := func() string { return fmt.Sprintf("id after %d", d.id) }
	switch {
	case n <= 0:
		return d.r.Corrupt(name(), "a number that does not end", nil)
	case n > 1 && d.rest[n-1] == 0:
		return d.r.Corrupt(name(), fmt.Sprintf("%d bytes for the number %d", n, gap), "fewer")
	case d.begun && gap == 0:
		return d.r.Corrupt(name(), "the same", nil)
	case gap > d.last-d.id:
		return d.r.Corrupt(name(), fmt.Sprintf("%d more", gap), fmt.Sprintf("at most %d in all", d.last))
	}
	d.id += gap
	d.begun = true
	return nil
}

// gaps gives what is stored, leaf by leaf.
func (f *Filter) gaps() iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		c := cursor{f: f}
		before := uint64(0)
		var gaps []uint64
		for c.load() {
			gaps = gaps[:0]
			for _, id := range c.ids {
				gaps = append(gaps, id-before)
				before = id
			}
			c.ids = nil
			if !yield(gaps) {
				return
			}
		}
	}
}

func appendGaps(dst []byte, gaps []uint64) []byte {
	for _, gap := range gaps {
		dst = binary.AppendUvarint(dst, gap)
	}
	return dst
}
