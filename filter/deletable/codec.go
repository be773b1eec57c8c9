package deletable

import (
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// The filter is stored in the common envelope (internal/frame). The payload is
// the marks, then the cells; bit i of each is bit i mod 64 of its word i/64,
// words little endian, unused bits clear:
//
//	kind 4, deletable   shape bits, hashes, regions, salt
//	                    payload ⌈regions/64⌉ words of marks, ⌈(bits-regions)/64⌉ words of cells
//
// The summary's set bits, those of the cells, must be true, and its keys cannot be
// more than they. The format is version 1: do not change.
const formatVersion = 1

// Snapshot captures the filter as it is now, in memory of its own.
func (f *Filter) Snapshot() io.WriterTo { return f.image().Copied() }

// Image is like Snapshot without the copy: the filter must not change before
// the result is written.
func (f *Filter) Image() io.WriterTo { return f.image() }

func (f *Filter) image() *frame.Image {
	return frame.Words(frame.Deletable, formatVersion, f.shape, f.summary(), f.marks, f.cells)
}

func (f *Filter) summary() frame.Summary {
	return frame.Summary{Keys: f.keys, Capacity: f.capacity, SetBits: f.set, FastBits: 64 * f.shape.words()}
}

// Read reads what Snapshot wrote.
func Read(src io.Reader) (*Filter, error) {
	r, s, err := frame.OpenAs(src, frame.Deletable, formatVersion, Shape.check)
	if err != nil {
		return nil, err
	}
	words, err := r.ReadRest(s.words(), mem.Words)
	if err != nil {
		return nil, err
	}
	f := over(s, words)
	sum := r.Header().Summary
	f.keys, f.capacity = sum.Keys, sum.Capacity
	if err := f.checkBits(); err != nil {
		return nil, r.Corrupt("payload", err, nil)
	}
	if err := r.CheckSummary(f.summary()); err != nil {
		return nil, err
	}
	if f.keys > f.set {
		return nil, r.Corrupt("summary: keys", f.keys, fmt.Sprintf("at most %d, the bits that are set", f.set))
	}
	return f, r.Close()
}
