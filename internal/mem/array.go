package mem

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/everbloom-go/everbloom/internal/fault"
)

const (
	// coarse is the binary logarithm of the steps to a doubling of an array.
	coarse = 4

	// maxElementBits keeps elements times stride well inside 64 bits; the allocator
	// refuses far smaller arrays.
	maxElementBits = 44
)

// A directory has the first word of every step of an array, or nil where there is none.
type directory []atomic.Pointer[uint64]

// Array is a growing sequence of elements of a fixed number of words each. The package
// comment has a picture.
//
// One goroutine at a time may call Grow and Shrink; any number may call At and Cap
// meanwhile. An index may be asked for if it was below the capacity at a moment that
// the reader knows of: the writer grows first and tells the readers the new number of
// elements afterwards, through an atomic value or a lock of its own.
type Array struct {
	directory atomic.Pointer[directory]
	first     uint64 // binary logarithm of the elements in the smallest step
	cuts      uint64 // of the steps to a doubling
	fine      uint64 // of the elements up to which steps are of that size
	stride    uint64
	capacity  atomic.Uint64
	held      int // steps that there is memory for, at least those that make up the capacity
	used      int // steps that were part of the capacity since they were taken: only these can be dirty
	from      Allocator
	collected bool // dropped segments go to the collector
}

// NewArray returns an array without elements. Its elements have stride words. It grows
// in steps of a sixteenth of each doubling, or of 2^first elements where that is more.
// Steps that are asked for at once are one block of memory, as far as they belong to
// one doubling. first is at most 32 and stride 2^16.
func NewArray(first, stride int, from Allocator) *Array {
	_, collected := from.(Heap)
	a := &Array{
		first: uint64(first), cuts: coarse, fine: uint64(first + coarse), stride: uint64(stride), from: from, collected: collected,
	}
	empty := make(directory, 1<<coarse)
	a.directory.Store(&empty)
	return a
}

// At returns the words of element i, shared with all other readers. They are good for
// as long as a reader holds them, also after Shrink (blocks of a [File] end with it).
// It returns nil if the step of i was dropped by Shrink or has not been made, and may
// panic if i is more than twice what the capacity ever was.
func (a *Array) At(i uint64) []uint64 {
	double := uint64(bits.Len64(i>>(a.fine&63)|1)) - 1
	size := (a.first + double) & 63
	if p := (*a.directory.Load())[double<<coarse+i>>size].Load(); p != nil {
		return unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(p), (i&(1<<size-1))*a.stride*wordBytes)), a.stride)
	}
	return nil
}

// Cap returns the number of elements that there is memory for.
func (a *Array) Cap() uint64 { return a.capacity.Load() }

// Grow makes sure that there are at least the given number of elements. Those that it
// adds are zero. When it returns an error the capacity is as before.
func (a *Array) Grow(elements uint64) error {
	if elements <= a.Cap() {
		return nil
	}
	if elements > 1<<maxElementBits {
		return fault.In("mem", "array of %d elements of %d words: beyond every address space: %w", elements, a.stride, ErrMemory)
	}
	need := a.stepsFor(elements)
	if err := a.hold(need); err != nil {
		return fault.In("mem", "array of %d elements of %d words: %w", elements, a.stride, err)
	}
	a.capacity.Store(a.endOf(need))
	a.used = max(a.used, need)
	return nil
}

// Shrink drops the steps that lie wholly behind the given number of elements. Those
// from [Heap] are left to the collector, which keeps them while a reader has them.
// Memory of other allocators cannot go while a reader may look at it: it stays in the
// array, where At still finds it, and the next Grow wipes and uses it again.
func (a *Array) Shrink(elements uint64) {
	if elements >= a.Cap() {
		return
	}
	keep := a.stepsFor(elements)
	a.capacity.Store(a.endOf(keep))
	a.drop(keep)
}

// hold has zeroed memory for as many steps as wanted. What it got before a failure is
// dropped again, or kept for the next time if it cannot be given back.
func (a *Array) hold(want int) error {
	before := a.held
	if err := a.probe(want); err != nil {
		return err
	}
	a.wipe(a.Cap(), a.endOf(min(want, a.used)))
	for a.held < want {
		// One block of a doubling: large ones have more huge pages, and still larger ones
		// could not be given back in parts.
		end := min(want, (a.held>>a.cuts+1)<<a.cuts)
		words, err := a.from.Words((a.endOf(end) - a.endOf(a.held)) * a.stride)
		if err != nil {
			a.drop(before)
			return err
		}
		if a.collected {
			adviseAround(words)
		}
		a.enter(words, end)
	}
	return nil
}

// enter makes a segment, which begins behind what is held, part of the directory. A
// directory that is too short is replaced by a longer one; readers that have the old
// one find in it what they may ask for.
func (a *Array) enter(words []uint64, end int) {
	d := *a.directory.Load()
	switch {
	case a.cuts != coarse && end > len(d):
		d = a.newDirectory(tightly(end))
	case a.cuts == coarse && end+1<<coarse > len(d):
		d = a.newDirectory(end + 2<<coarse)
	}
	first := a.endOf(a.held)
	for ; a.held < end; a.held++ {
		d[a.held].Store(&words[(a.endOf(a.held)-first)*a.stride])
	}
}

// newDirectory replaces the directory by one for n steps.
func (a *Array) newDirectory(n int) directory {
	d, old := make(directory, n), *a.directory.Load()
	for i := range a.held {
		d[i].Store(old[i].Load())
	}
	a.directory.Store(&d)
	return d
}

// prober is an allocator that can tell whether it has room for many blocks without
// taking them.
type prober interface {
	canGive(n uint64) error
}

// probe asks about all missing segments at once. Taking them one by one until the last
// and largest is refused would first use up half of what there is.
func (a *Array) probe(want int) error {
	p, ok := a.from.(prober)
	if !ok || want <= a.held {
		return nil
	}
	return p.canGive((a.endOf(want) - a.endOf(a.held)) * a.stride)
}

// drop leaves the steps from the given one on to the collector, if it collects them.
func (a *Array) drop(from int) {
	if !a.collected {
		return
	}
	d := *a.directory.Load()
	for step := from; step < a.held; step++ {
		d[step].Store(nil)
	}
	a.held = min(a.held, from)
	a.used = min(a.used, from)
}

// wipe zeroes elements that were kept by an earlier Shrink. Late readers may still look at
// them, hence atomically; most words are zero already, and a look is cheaper than a store.
func (a *Array) wipe(from, to uint64) {
	for i := from; i < to; i++ {
		words := a.At(i)
		for j, w := range words {
			if w != 0 {
				atomic.StoreUint64(&words[j], 0)
			}
		}
	}
}

// stepsFor returns how many steps hold the given number of elements.
func (a *Array) stepsFor(elements uint64) int {
	if elements == 0 {
		return 0
	}
	last := (elements - 1) >> a.first // in smallest steps
	double := bits.Len64(last>>a.cuts|1) - 1
	return double<<a.cuts + int(last>>double) + 1
}

// endOf returns how many elements the first steps hold together, which is also the
// index at which the next one begins.
func (a *Array) endOf(steps int) uint64 {
	double := max(steps>>a.cuts-1, 0)
	return uint64(steps-double<<a.cuts) << double << a.first
}
