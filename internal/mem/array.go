package mem

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
)

const (
	// maxSegments suffices for every array that fits into a 64-bit address space: 2^43 single words.
	maxSegments = 44
	maxFirst    = 32
	maxStride   = 1 << 16

	// maxElementBits keeps elements times stride well inside 64 bits; the allocator refuses far smaller arrays.
	maxElementBits = 46
)

// segment is one block of an array. It never changes once it is in the table.
type segment struct {
	words []uint64
	base  uint64 // index of its first element
}

// Array is a growing sequence of elements of a fixed number of words each. The package comment has a picture.
//
// One goroutine at a time may call Grow and Shrink; any number may call At and Cap meanwhile. An index may be asked for
// if it was below the capacity at a moment that the asker knows of: the writer grows first and tells the readers the
// new number of elements afterwards, through an atomic value or a lock of its own.
type Array struct {
	table     [maxSegments]atomic.Pointer[segment]
	first     uint64
	stride    uint64
	capacity  atomic.Uint64
	held      int // segments in the table, at least those that make up the capacity
	used      int // segments that were part of the capacity since they were taken: only these can be dirty
	from      Allocator
	collected bool // dropped segments go to the collector
}

// NewArray returns an array without elements. Its elements have stride words, and its first two segments hold 2^first
// elements each.
func NewArray(first, stride int, from Allocator) (*Array, error) {
	var errs []error
	if first < 0 || first > maxFirst {
		errs = append(errs, fmt.Errorf("mem: array: first segment of 2^%d elements, exponent must be 0 to %d", first, maxFirst))
	}
	if stride < 1 || stride > maxStride {
		errs = append(errs, fmt.Errorf("mem: array: elements of %d words, must be 1 to %d", stride, maxStride))
	}
	if from == nil {
		errs = append(errs, errors.New("mem: array: no allocator"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	_, collected := from.(Heap)
	return &Array{first: uint64(first), stride: uint64(stride), from: from, collected: collected}, nil
}

// At returns the words of element i, shared with everybody else who asks. They are good for as long as somebody holds
// them, also after Shrink (blocks of a [File] end with its Close). It returns nil if the segment of i was dropped by Shrink or
// has not been made, and may panic for indexes no array can have.
func (a *Array) At(i uint64) []uint64 {
	s := a.table[bits.Len64(i>>(a.first&63))].Load()
	if s == nil {
		return nil
	}
	i = (i - s.base) * a.stride
	return s.words[i : i+a.stride : i+a.stride]
}

// Cap returns the number of elements that there is memory for.
func (a *Array) Cap() uint64 { return a.capacity.Load() }

// Grow makes sure that there are at least the given number of elements. Those that it adds are zero, or what they were in a
// [File] that was opened again. When it returns an error the capacity is as before.
func (a *Array) Grow(elements uint64) error {
	if elements <= a.Cap() {
		return nil
	}
	need := a.segmentsFor(elements)
	if need > maxSegments || a.first+uint64(need) > maxElementBits {
		return fmt.Errorf("mem: array of %d elements of %d words: beyond every address space: %w", elements, a.stride, ErrMemory)
	}
	if err := a.hold(need); err != nil {
		return fmt.Errorf("mem: array of %d elements of %d words: %w", elements, a.stride, err)
	}
	a.capacity.Store(a.endOf(need))
	a.used = max(a.used, need)
	return nil
}

// Shrink drops the segments that lie wholly behind the given number of elements. Those from [Heap] are left to the
// collector, which keeps them while a reader has them. Memory of other allocators cannot go while somebody may look at it:
// it stays in the array, where At still finds it, and the next Grow wipes and uses it again.
func (a *Array) Shrink(elements uint64) {
	if elements >= a.Cap() {
		return
	}
	keep := a.segmentsFor(elements)
	a.capacity.Store(a.endOf(keep))
	a.drop(keep)
}

// hold has the table filled with as many zeroed segments as wanted. What it got before a failure is dropped again, or
// kept for the next time if it cannot be given back. Segments are taken in the order of their indexes, whatever the
// steps in which an array grows, so that one in a file is found again.
func (a *Array) hold(want int) error {
	before := a.held
	if err := a.probe(want); err != nil {
		return err
	}
	a.wipe(a.segmentsFor(a.Cap()), min(want, a.used))
	for s := before; s < want; s++ {
		base, end := a.endOf(s), a.endOf(s+1)
		words, err := a.from.Words((end - base) * a.stride)
		if err != nil {
			a.drop(before)
			return err
		}
		a.table[s].Store(&segment{words: words, base: base})
		a.held++
	}
	return nil
}

// prober is an allocator that can tell whether it has room for many blocks without taking them.
type prober interface {
	canGive(n uint64) error
}

// probe asks about all missing segments at once. Taking them one by one until the last and largest is refused would
// first use up half of what there is.
func (a *Array) probe(want int) error {
	p, ok := a.from.(prober)
	if !ok || want <= a.held {
		return nil
	}
	return p.canGive((a.endOf(want) - a.endOf(a.held)) * a.stride)
}

// drop gives the segments from the given one on to the collector, if they are his.
func (a *Array) drop(from int) {
	if !a.collected {
		return
	}
	for s := from; s < a.held; s++ {
		a.table[s].Store(nil)
	}
	a.held = min(a.held, from)
	a.used = min(a.used, from)
}

// wipe zeroes segments that were kept by an earlier Shrink. Late readers may still look at
// them, hence atomically; most words are zero already, and a look is cheaper than a store.
func (a *Array) wipe(from, to int) {
	for s := from; s < to; s++ {
		words := a.table[s].Load().words
		for i, w := range words {
			if w != 0 {
				atomic.StoreUint64(&words[i], 0)
			}
		}
	}
}

// segmentsFor returns how many segments hold the given number of elements.
func (a *Array) segmentsFor(elements uint64) int {
	if elements == 0 {
		return 0
	}
	return bits.Len64((elements-1)>>a.first) + 1
}

// endOf returns how many elements the first segments hold together, which is also the index at which the next one begins.
func (a *Array) endOf(segments int) uint64 {
	if segments == 0 {
		return 0
	}
	return 1 << (a.first + uint64(segments) - 1)
}
