package bloom

import (
	"fmt"
	"io"

	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Both kinds are stored in the common envelope (internal/frame). The payload is
// the bits, bit i being bit i mod 64 of word i/64, words little endian:
//
//	kind 1, bloom    shape bits, hashes, salt      payload ⌈bits/64⌉ words, unused bits clear
//	kind 2, blocked  shape blocks, hashes, salt    payload 8 words per block
//
// The summary's set bits must be true. The format is version 1: do not change.
const formatVersion = 1

// Snapshot captures the filter as it is now, in memory of its own.
func (f *Filter) Snapshot() io.WriterTo {
	return f.image(frame.Bloom, f.Shape(), f.Len()).Copied()
}

// Image is like Snapshot without the copy: the filter must not change before
// the result is written.
func (f *Filter) Image() io.WriterTo {
	return f.image(frame.Bloom, f.Shape(), f.Len())
}

// Read reads what a [Filter]'s Snapshot wrote.
func Read(src io.Reader) (*Filter, error) {
	r, s, err := frame.OpenAs(src, frame.Bloom, formatVersion, Shape.check)
	if err != nil {
		return nil, err
	}
	a, err := readArray(r, bitvec.WordsFor(s.Bits))
	if err != nil {
		return nil, err
	}
	f := over(s, a)
	if err := f.checkTail(); err != nil {
		return nil, r.Corrupt("payload", err, nil)
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	return f, nil
}

// Snapshot captures the filter as it is now, in memory of its own.
func (f *Blocked) Snapshot() io.WriterTo {
	return f.image(frame.Blocked, f.Shape(), f.Len()).Copied()
}

// Image is like Snapshot without the copy: the filter must not change before
// the result is written.
func (f *Blocked) Image() io.WriterTo {
	return f.image(frame.Blocked, f.Shape(), f.Len())
}

// ReadBlocked reads what a [Blocked]'s Snapshot wrote.
func ReadBlocked(src io.Reader) (*Blocked, error) {
	r, s, err := frame.OpenAs(src, frame.Blocked, formatVersion, BlockedShape.check)
	if err != nil {
		return nil, err
	}
	a, err := readArray(r, s.Blocks*theory.BlockWords)
	if err != nil {
		return nil, err
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	return blockedOver(s, a), nil
}

// checkTail reports whether the unused bits of the last word are clear.
func (f *Filter) checkTail() error {
	if last := f.words[len(f.words)-1]; f.size%64 != 0 && last>>(f.size%64) != 0 {
		return fmt.Errorf("bloom: bits beyond %d are set: %#x", f.size, last)
	}
	return nil
}
