package evergreen

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/everbloom-go/everbloom/filter/evergreen/internal/slab"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/line"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// A filter is stored in the common envelope (internal/frame) as kind 10:
//
//	shape    fpr, hashes, width, salt
//	payload  blocks 8 | floor 8 | block 0 | block 1 | …
//	block    count 2 | fingerprints, width/8 bytes each, in ascending order
//
// All numbers are little endian. The bits of the blocks are not stored: they follow
// from the fingerprints. The summary must be true. The format is version 1: do not
// change.
const (
	formatVersion = 1
	headBytes     = 16
)

// Snapshot captures the filter as it is now. Beside writers it is one cut for each
// stripe of keys, and for every key a state that it had during the call; no writer
// waits for longer than the copy of a stripe takes. Splits and merges wait. The copy is
// in ordinary memory and as large as what is stored, also if there is a SlowFile.
func (f *Filter) Snapshot() io.WriterTo {
	c := f.capture()
	return &frame.Image{
		Header: frame.Header{
			Kind:    frame.Evergreen,
			Version: formatVersion,
			Shape:   frame.ShapeOf(f.shape),
			Summary: frame.Summary{
				Keys: c.keys, SetBits: c.set,
				FastBits: c.blocks * theory.BlockBits, SlowBits: c.runs.Bits(c.blocks),
			},
			Payload: headBytes + c.blocks*countBytes + c.keys*uint64(c.Width),
		},
		Payload: c.write,
	}
}

// capture copies what the filter holds. A list is stored as its table would be.
func (f *Filter) capture() *capture {
	t, list := f.present()
	if t == nil {
		var err error
		if t, err = tableOf(f.shape, list, minBlocks); err != nil {
			return &capture{Geometry: slab.GeometryOf(f.shape.Width / 8), err: err}
		}
	}
	return t.capture()
}

func (c *capture) write(w io.Writer) error {
	if c.err != nil {
		return c.err
	}
	c.rewind()
	out := bufio.NewWriterSize(w, 1<<16)
	b := binary.LittleEndian.AppendUint64(nil, c.blocks)
	b = binary.LittleEndian.AppendUint64(b, c.floor)
	var word [8]byte
	for i := range c.blocks {
		list := c.next(i)
		slices.Sort(list)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(list)))
		for _, fp := range list {
			binary.LittleEndian.PutUint64(word[:], fp)
			b = append(b, word[:c.Width]...)
		}
		if _, err := out.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	return out.Flush()
}

// Read reads what Snapshot wrote, into ordinary memory.
func Read(src io.Reader) (*Filter, error) { return ReadSlow(src, "") }

// ReadSlow is Read with the slow memory in a file to be made: see Config.SlowFile.
func ReadSlow(src io.Reader, slowFile string) (*Filter, error) {
	r, s, err := frame.OpenAs(src, frame.Evergreen, formatVersion, Shape.check)
	if err != nil {
		return nil, err
	}
	t, err := read(r, s, slowFile)
	if err == nil {
		err = r.Close()
	}
	if err != nil && t != nil {
		_ = t.close() // the first error is the one to tell
	}
	if err != nil {
		return nil, err
	}
	f := fromTable(t)
	if keys, _ := t.count(); t.size.isListable() && t.load().blocks() == minBlocks && keys <= int64(listMost) {
		f.toList(t, listOf(t, int(keys)))
	}
	return f, nil
}

// read makes a filter from the payload. It begins with the smallest memory, and
// more follows the bytes that have arrived.
func read(r *frame.Reader, s Shape, slowFile string) (*table, error) {
	var head [headBytes]byte
	if err := r.ReadFull(head[:]); err != nil {
		return nil, err
	}
	blocks, floor := binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])
	if blocks < minBlocks || blocks > s.maxBlocks() || r.Left() < blocks*countBytes {
		return nil, r.Corrupt("blocks", blocks, fmt.Sprintf("%d to %d", minBlocks, min(s.maxBlocks(), r.Left()/countBytes)))
	}
	if floor < minBlocks || floor > blocks {
		return nil, r.Corrupt("floor", floor, fmt.Sprintf("%d to %d", minBlocks, blocks))
	}
	t, err := newTable(s, minBlocks, slowFile)
	if err != nil {
		return nil, err
	}
	t.state.Store(uint64(state(0).step(blocks)))
	d := decoder{Reader: r, t: t, blocks: blocks}
	for i := range blocks {
		if err := d.block(i); err != nil {
			return t, err
		}
	}
	t.finish(floor)
	return t, d.verify()
}

// A decoder reads blocks.
type decoder struct {
	*frame.Reader
	t      *table
	blocks uint64
	buf    []byte
	list   []uint64
}

// block reads block i and stores its fingerprints.
func (d *decoder) block(i uint64) error {
	var head [countBytes]byte
	if err := d.ReadFull(head[:]); err != nil {
		return err
	}
	g := d.t.store.Geometry
	count := int(binary.LittleEndian.Uint16(head[:]))
	if count > g.Most {
		return d.Corrupt(fmt.Sprintf("block %d: keys", i), count, fmt.Sprintf("at most %d", g.Most))
	}
	d.buf = slices.Grow(d.buf[:0], count*g.Width+8)[:count*g.Width+8]
	if err := d.ReadFull(d.buf[:count*g.Width]); err != nil {
		return err
	}
	if err := d.t.reserve(i + 1); err != nil {
		return err
	}
	run := line.NewRun(d.buf, count, g.Width)
	d.list = run.AppendTo(d.list[:0])
	if err := d.checkList(i); err != nil {
		return err
	}
	if err := d.t.fill(i, d.list); err != nil {
		return fmt.Errorf("evergreen: read: %w", err)
	}
	return nil
}

// checkList refuses fingerprints that are not in order, twice where whole keys are
// kept, or of another block.
func (d *decoder) checkList(i uint64) error {
	for j, fp := range d.list {
		if j > 0 && (fp < d.list[j-1] || fp == d.list[j-1] && d.t.exact) {
			return d.wrongFingerprint(i, fp, fmt.Sprintf("one above %#x", d.list[j-1]))
		}
		if place(mixedOf(fp, i, d.t.width), d.blocks) != i {
			return d.wrongFingerprint(i, fp, "one of this block")
		}
	}
	return nil
}

func (d *decoder) wrongFingerprint(block, fp uint64, limit string) error {
	return d.Corrupt(fmt.Sprintf("block %d: fingerprint", block), fmt.Sprintf("%#x", fp), limit)
}

// verify checks the number of keys and compares the summary with what was read.
func (d *decoder) verify() error {
	keys, _ := d.t.count()
	var set uint64
	var runs slab.RunCounts
	for i := range d.blocks {
		set += d.t.lines.at(i).Ones()
		runs.Add(d.t.store.Geometry, d.t.store.Ref(i).Count())
	}
	if slack := d.t.meter.capacity / 64; !d.t.exact && keys > d.t.meter.capacity+slack { // goroutines that add at the same time
		return d.Corrupt("keys", keys, fmt.Sprintf("at most %d with fingerprints of %d bits", d.t.meter.capacity, d.t.shape.Width))
	}
	return d.CheckSummary(frame.Summary{
		Keys: uint64(keys), SetBits: set, FastBits: d.blocks * theory.BlockBits, SlowBits: runs.Bits(d.blocks),
	})
}
