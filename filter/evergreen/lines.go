package evergreen

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/line"
	"github.com/everbloom-go/everbloom/internal/mem"
)

const blockBytes = 8 * line.Words

// lines is the fast memory: the blocks. Assembly finds them through the table, by how
// many zeros the number of a block, of 32 bits, begins with.
//
// Blocks grow by doublings, each of which is one block of memory. They are a sixth of
// all memory, so smaller steps would save little, and cost lookups a few instructions
// and huge pages. What the table has for a segment is the address that block 0 would
// have if the segment reached down to it, so that a block is found by its number alone;
// or 0 while there is no segment. The array, not the table, keeps the memory from being
// collected: see shrink for why a reader may rely on it.
type lines struct {
	table [maxLevel + 1]atomic.Uintptr
	array *mem.Array
}

// init prepares lines without blocks.
func (l *lines) init() { l.array = mem.NewArray(lowBits, line.Words, mem.Heap{}) }

// at returns block i, or nil if its segment was given back: then the state of the
// reader is out of date.
func (l *lines) at(i uint64) *line.Block {
	words := l.array.At(i)
	if words == nil {
		return nil
	}
	return (*line.Block)(words)
}

// prefetch asks for block i.
func (l *lines) prefetch(i uint64) { line.Prefetch(unsafe.Pointer(l.at(i))) }

// grow makes sure that there are n blocks. New ones are empty.
func (l *lines) grow(n uint64) error {
	if n <= l.array.Cap() {
		return nil
	}
	if err := l.array.Grow(1 << bits.Len64(n-1)); err != nil {
		return fmt.Errorf("evergreen: fast memory: %w: %w", filter.ErrStorage, err)
	}
	l.refresh()
	return nil
}

// shrink gives back segments that lie so far behind the n blocks in use that they
// will not be needed again soon. They are the collector's then. A reader that is
// late may still look into one: portable code holds a pointer to it, and assembly,
// which has only an address, cannot be interrupted, while the collector frees
// nothing before every goroutine has been stopped once.
func (l *lines) shrink(n uint64) {
	if keep := uint64(1) << bits.Len64(n+n/8); keep < l.array.Cap() {
		l.array.Shrink(keep)
		l.refresh()
	}
}

// refresh makes the table agree with the array.
func (l *lines) refresh() {
	for zeros := range l.table {
		least := uint64(1) << (maxLevel - zeros) >> 1 // the first block whose number begins so
		var origin uintptr
		if least < l.array.Cap() {
			first := unsafe.Pointer(unsafe.SliceData(l.array.At(least)))
			origin = uintptr(first) - uintptr(least*blockBytes)
		}
		l.table[zeros].Store(origin)
	}
}
