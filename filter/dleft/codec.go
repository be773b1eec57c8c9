package dleft

import (
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// A filter is stored in the common envelope (internal/frame) as kind 5:
//
//	shape    subtables, buckets, cells, remainder, counter, salt
//	payload  the cells without gaps, words little endian, unused bits clear:
//	         subtable by subtable, bucket by bucket, cell by cell
//	cell     counter bits | remainder bits, the lowest last; 0 if empty
//
// A counter holds the number of copies less one; all ones means that it is stuck.
// The summary's set bits are the used cells, and its keys are the copies: where a
// counter is stuck only the summary knows them. Both must be true. The format is
// version 1: do not change.
const formatVersion = 1

// Snapshot captures the filter as it is now, in memory of its own.
func (f *Filter) Snapshot() io.WriterTo { return f.image().Copied() }

// Image is like Snapshot without the copy: the filter must not change before
// the result is written.
func (f *Filter) Image() io.WriterTo { return f.image() }

func (f *Filter) image() *frame.Image {
	sum := frame.Summary{Keys: f.Len(), Capacity: f.capacity, SetBits: f.used, FastBits: 64 * uint64(len(f.words))}
	return frame.Words(frame.DLeft, formatVersion, f.shape, sum, f.words)
}

// Read reads what Snapshot wrote. It checks that every fingerprint is where it
// may be, once, which takes about as long as adding them.
func Read(src io.Reader) (*Filter, error) {
	r, s, err := frame.OpenAs(src, frame.DLeft, formatVersion, Shape.check)
	if err != nil {
		return nil, err
	}
	words, err := r.ReadRest(s.words(), mem.Words)
	if err != nil {
		return nil, err
	}
	f := over(s, words)
	if err := f.verify(r); err != nil {
		return nil, err
	}
	return f, r.Close()
}

// verify counts the cells and takes from the summary what they do not tell.
func (f *Filter) verify(r *frame.Reader) error {
	t, err := f.count()
	if err != nil {
		return r.Corrupt("payload", err, nil)
	}
	sum := r.Header().Summary
	if sum.Keys < t.exact || sum.Keys-t.exact > maxVague || t.stuck == 0 && sum.Keys != t.exact {
		return r.Corrupt("summary: keys", sum.Keys, fmt.Sprintf("%d with %d stuck counters", t.exact, t.stuck))
	}
	t.vague = sum.Keys - t.exact
	f.tally, f.capacity = t, sum.Capacity
	sum.SetBits, sum.FastBits, sum.SlowBits = t.used, 64*uint64(len(f.words)), 0
	return r.CheckSummary(sum)
}
