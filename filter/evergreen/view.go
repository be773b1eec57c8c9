package evergreen

import (
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/line"
)

// What follows shows the blocks of a filter, for pictures.

// Blocks returns how many blocks of 512 bits there are; 0 while the keys are in a
// list.
func (f *Filter) Blocks() uint64 {
	if t := f.table.Load(); t != nil {
		return t.load().blocks()
	}
	return 0
}

// Block returns the bits of block i, counted from 0. It has none if there is no such block.
func (f *Filter) Block(i uint64) (bits [line.Words]uint64) {
	t := f.table.Load()
	if t == nil || i >= t.load().blocks() {
		return bits
	}
	if b := t.lines.at(i); b != nil { // else it was given back meanwhile
		for w := range b {
			bits[w] = atomic.LoadUint64(&b[w])
		}
	}
	return bits
}

// Parts returns how many blocks there are, and which share of the bits of each is set.
func (f *Filter) Parts() (n uint64, fill func(i uint64) float64) {
	return f.Blocks(), func(i uint64) float64 {
		b := line.Block(f.Block(i))
		return float64(b.Ones()) / (64 * line.Words)
	}
}

// Touched returns the block of k and the bits of it that a query for k reads. There is no
// block while the keys are in a list.
func (f *Filter) Touched(k filter.Key) (block uint64, bits [line.Words]uint64) {
	t := f.table.Load()
	if t == nil {
		return 0, bits
	}
	mixed := t.mixer.mix(k)
	var b line.Block
	b.Mark(t.fingerprint(mixed), t.rounds)
	return place(mixed, t.load().blocks()), b
}
