package mem

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

const (
	// lineFirst is the binary logarithm of the lines in the smallest step, which is half
	// a KiB: the directory takes a sixty-fourth of what it refers to, and less of larger
	// steps.
	lineFirst = 3

	// lineCuts is the binary logarithm of the steps to a doubling.
	lineCuts = 6

	// evenBits is how many bits the numbers of lines in smallest steps have.
	evenBits = lineFirst + lineCuts + 1
	stepBits = lineCuts + 1
)

// A Line is the 64 bytes of a cache line.
type Line [lineWords]uint64

// Lines is an array of cache lines on the heap of which every byte counts: an [Array] with
// sixty-four steps to a doubling and a directory that is as long as the steps need. The
// rules for readers and writers are those of Array.
type Lines struct{ array Array }

// NewLines returns Lines without lines.
func NewLines() *Lines {
	l := &Lines{Array{first: lineFirst, cuts: lineCuts, fine: lineFirst + lineCuts, stride: lineWords, from: Heap{}, collected: true}}
	l.array.directory.Store(&directory{})
	return l
}

// At returns line i, or nil if its step was dropped by Shrink or has not been made.
func (l *Lines) At(i uint64) (line *Line) {
	n := bits.Len64(i | (1<<evenBits - 1)) // steps have 2^(n-stepBits) lines
	d := *l.array.directory.Load()
	if step := (n-evenBits)<<lineCuts + int(i>>(n-stepBits)); step < len(d) {
		if p := d[step].Load(); p != nil {
			return (*Line)(unsafe.Add(unsafe.Pointer(p), i*lineBytes&(lineBytes<<(n-stepBits)-1)))
		}
	}
	return
}

// A Directory has where each step begins.
type Directory = directory

// Directory returns that of the lines, for assembly. It is replaced by Grow and Shrink.
func (l *Lines) Directory() *Directory { return l.array.directory.Load() }

// Cap returns the number of lines that there is memory for.
func (l *Lines) Cap() uint64 { return l.array.Cap() }

// Grow makes sure that there are at least n lines. Those that it adds are zero. When it
// returns an error the capacity is as before.
func (l *Lines) Grow(n uint64) error { return l.array.Grow(n) }

// Shrink drops the steps that lie wholly behind n lines. A reader that has one of their
// lines may keep it.
func (l *Lines) Shrink(n uint64) {
	l.array.Shrink(n)
	if n := tightly(l.array.held); n < len(*l.array.directory.Load()) {
		l.array.newDirectory(n)
	}
}

// Bytes returns how much memory there is for lines and directory.
func (l *Lines) Bytes() uint64 {
	return l.array.Cap()*lineBytes + uint64(len(*l.array.directory.Load()))*entryBytes
}

const entryBytes = uint64(unsafe.Sizeof(atomic.Pointer[uint64]{}))

// LinesBytes returns the Bytes of n lines.
func LinesBytes(n uint64) uint64 {
	a := Array{first: lineFirst, cuts: lineCuts}
	steps := a.stepsFor(n)
	return a.endOf(steps)*lineBytes + uint64(tightly(steps))*entryBytes
}

// tightly returns how long the directory of so many steps is: a line of the directory is
// the least that is worth a new one.
func tightly(steps int) int { return (steps + 7) &^ 7 }
