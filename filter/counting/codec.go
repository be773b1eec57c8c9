package counting

import (
	"io"
	"math"

	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// The filter is stored in the common envelope (internal/frame), words little
// endian:
//
//	kind 3     shape counters, hashes, counterbits, salt
//	payload    1 word    the number of keys, copies counted; all ones if unknown
//	           ⌈counters·counterbits/64⌉ words, counter i in counterbits bits from
//	           bit i·counterbits mod 64 of word i·counterbits/64 on, unused bits clear
//
// The summary's set bits are the counters above zero and must be true, as must be
// its number of keys. While no counter is saturated the sum of all is the number
// of keys times hashes. The format is version 1: do not change.
const formatVersion = 1

// unknownKeys stands for the number of keys after an intersection.
const unknownKeys = math.MaxUint64

// Snapshot captures the filter as it is now, in memory of its own.
func (f *Filter) Snapshot() io.WriterTo { return f.image().Copied() }

// Image is like Snapshot without the copy: the filter must not change before
// the result is written.
func (f *Filter) Image() io.WriterTo { return f.image() }

func (f *Filter) image() *frame.Image {
	return frame.Words(frame.Counting, formatVersion, f.Shape(), f.summary(), []uint64{f.Count()}, f.words)
}

func (f *Filter) summary() frame.Summary {
	return frame.Summary{
		Keys: f.Len(), Capacity: f.capacity, SetBits: f.positive, FastBits: 64 * uint64(len(f.words)),
	}
}

// Read reads what Snapshot wrote.
func Read(src io.Reader) (*Filter, error) {
	r, s, err := frame.OpenAs(src, frame.Counting, formatVersion, Shape.check)
	if err != nil {
		return nil, err
	}
	f, err := readCounters(r, s)
	if err != nil {
		return nil, err
	}
	return f, r.Close()
}

// readCounters reads the payload that belongs to the shape and checks it.
func readCounters(r *frame.Reader, s Shape) (*Filter, error) {
	var keys [1]uint64
	if err := r.ReadWordsInto(keys[:]); err != nil {
		return nil, err
	}
	words, err := r.ReadRest(bitvec.WordsFor(s.Bits()), mem.Words)
	if err != nil {
		return nil, err
	}
	f, err := FromWords(s, keys[0], words)
	if err != nil {
		return nil, r.Corrupt("payload", err, nil)
	}
	f.capacity = r.Header().Summary.Capacity
	return f, r.CheckSummary(f.summary())
}
