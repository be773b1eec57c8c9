package scalable

import (
	"errors"
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// The filter is stored in the common envelope (internal/frame), words little
// endian:
//
//	kind 7     shape items, fpr, salt
//	payload    for each unit, oldest first:
//	             1 word   blocks
//	             1 word   hashes: 8, 16, 24 or 32
//	             1 word   keys
//	             8 words for each block, as package bloom stores them
//
// Unit i takes items·2^i keys, and all but the last have as many. The size of a unit
// is stored, although it follows from the shape: a better formula must not make
// files unreadable. It must suffice for the rate of the unit. The summary's set
// bits must be true. The format is version 1: do not change.
const formatVersion = 1

// maxLoad is how many keys of a unit there may be for each block, on average. At half of it
// the rate is above a third whatever the hashes are, which no unit may have. What a file
// costs to check grows with the load, and thereby with its length only.
const maxLoad = 256

// headWords is the number of words before the blocks of a unit.
const headWords = 3

// Snapshot captures the filter as it is now, in memory of its own.
func (f *Filter) Snapshot() io.WriterTo { return f.image().Copied() }

// Image is like Snapshot without the copy: the filter must not change before
// the result is written.
func (f *Filter) Image() io.WriterTo { return f.image() }

func (f *Filter) image() *frame.Image {
	var words [][]uint64
	for i := range f.units {
		u := &f.units[i]
		s := u.Shape()
		words = append(words, []uint64{s.Blocks, uint64(s.Hashes), u.keys}, u.Words())
	}
	return frame.Words(frame.Scalable, formatVersion, f.shape, f.summary(), words...)
}

func (f *Filter) summary() frame.Summary {
	sum := frame.Summary{Keys: f.Len()}
	for i := range f.units {
		sum.SetBits += f.units[i].SetBits()
		sum.FastBits += f.units[i].Shape().Bits()
	}
	return sum
}

// Read reads what Snapshot wrote.
func Read(src io.Reader) (*Filter, error) {
	r, s, err := frame.OpenAs(src, frame.Scalable, formatVersion, Shape.check)
	if err != nil {
		return nil, err
	}
	f := &Filter{shape: s}
	for r.Left() > 0 {
		if err := f.readUnit(r); err != nil {
			return nil, err
		}
	}
	if err := f.check(); err != nil {
		return nil, r.Corrupt("payload", err, nil)
	}
	if err := r.CheckSummary(f.summary()); err != nil {
		return nil, err
	}
	return f, r.Close()
}

// readUnit reads the next unit.
func (f *Filter) readUnit(r *frame.Reader) error {
	name := fmt.Sprintf("unit %d", len(f.units))
	if f.shape.beyond(len(f.units)) {
		return r.Corrupt(name, "one more", fmt.Sprintf("units for at most %d keys", uint64(maxItems)))
	}
	var head [headWords]uint64
	if err := r.ReadWordsInto(head[:]); err != nil {
		return err
	}
	blocks, hashes, keys := head[0], head[1], head[2]
	if most := r.Left() / 8 / theory.BlockWords; blocks > most {
		return r.Corrupt(name+": blocks", blocks, fmt.Sprintf("at most %d in %d bytes", most, r.Left()))
	}
	if capacity := f.shape.Items << len(f.units); capacity/maxLoad > blocks {
		return r.Corrupt(name+": blocks", blocks, fmt.Sprintf("at least %d for %d keys", capacity/maxLoad, capacity))
	}
	if hashes > theory.MaxPerWord*theory.BlockWords {
		return r.Corrupt(name+": hashes", hashes, fmt.Sprintf("at most %d", theory.MaxPerWord*theory.BlockWords))
	}
	words, err := r.ReadWords(blocks*theory.BlockWords, mem.Words)
	if err != nil {
		return err
	}
	b, err := bloom.BlockedFromWords(bloom.BlockedShape{Blocks: blocks, Hashes: int(hashes), Salt: f.shape.Salt}, words)
	if err != nil {
		return r.Corrupt(name, err, nil)
	}
	f.setUnits(append(f.units, unit{Blocked: b, capacity: f.shape.Items << len(f.units), keys: keys}))
	return nil
}

// check reports whether units that were read may be a filter.
func (f *Filter) check() error {
	if len(f.units) == 0 {
		return errors.New("scalable: no units")
	}
	for i := range f.units {
		if err := f.checkUnit(i); err != nil {
			return fmt.Errorf("scalable: unit %d of %d: %w", i, len(f.units), err)
		}
	}
	return nil
}

// checkUnit reports whether a unit has the keys it should have, and is large
// enough for them.
func (f *Filter) checkUnit(i int) error {
	u := &f.units[i]
	if u.keys > u.capacity || u.keys < u.capacity && i < len(f.units)-1 {
		return fmt.Errorf("%d keys of %d", u.keys, u.capacity)
	}
	// Every key set a bit that was clear, and no more than it has.
	s, set := u.Shape(), u.SetBits()
	if set < u.keys || u.keys < (set+uint64(s.Hashes)-1)/uint64(s.Hashes) {
		return fmt.Errorf("%d keys with %d hashes have set %d bits", u.keys, s.Hashes, set)
	}
	// The formula may have become a little better since.
	if rate, limit := most(u.capacity, s.Blocks, s.Hashes/theory.BlockWords), unitFPR(f.shape.FPR, i); rate > 1.01*limit {
		return fmt.Errorf("%d blocks and %d hashes give a rate of up to %g, at most %g", s.Blocks, s.Hashes, rate, limit)
	}
	return nil
}
