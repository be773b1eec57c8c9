package mem

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

const (
	wordBytes = 8
	lineBytes = 64
	lineWords = lineBytes / wordBytes

	// checkFrom is the size from which each request is compared with what the machine
	// has; smaller ones are when they add up to that. Looking costs tens of
	// microseconds: little beside zeroing 4 MiB, too much for thousands of tiny
	// filters.
	checkFrom = 4 << 20

	// hugeFrom is the size from which huge pages are asked for. Wherever a block of 4
	// MiB begins, it has at least one whole aligned page of 2 MiB inside; below that it
	// depends on luck, and a system call per small block would be waste.
	hugeFrom = 4 << 20
)

// ErrMemory is wrapped by errors about memory that cannot be had.
var ErrMemory = errors.New("not enough memory")

// Allocator gives out zeroed blocks of words that begin on a 64-byte line.
// Implementations are safe for concurrent use.
type Allocator interface {
	// Words returns a block whose length and capacity are n. When it returns an error
	// nothing has changed.
	Words(n uint64) ([]uint64, error)
}

// Heap takes blocks from the Go heap. The zero value is ready for use.
type Heap struct {
	// Limit is the largest block in bytes that may be taken, on top of what the machine
	// allows. Zero means no such limit.
	Limit uint64
}

var _ Allocator = Heap{}

// Words takes a block of n words from the Go heap: see [Heap.Words].
func Words(n uint64) ([]uint64, error) {
	return Heap{}.Words(n)
}

// Clone returns a copy of words in a block of its own.
func Clone(words []uint64) ([]uint64, error) {
	w, err := Words(uint64(len(words)))
	copy(w, words)
	return w, err
}

// Words returns n zeroed words, or an error that wraps [ErrMemory] if the machine
// cannot give them.
func (h Heap) Words(n uint64) ([]uint64, error) {
	if err := h.check(n, machineLimit); err != nil {
		return nil, fault.In("mem", "%w", err)
	}
	words := takeAligned(int(n))
	if len(words) >= hugeFrom/wordBytes {
		adviseHuge(words)
	}
	return words, nil
}

// canGive says why blocks of n words in all cannot be had. The limit is one for single
// blocks and plays no part.
func (h Heap) canGive(n uint64) error {
	return Heap{}.check(n, machineLimit)
}

// check says why n words cannot be had. After it n*wordBytes fits an int.
func (h Heap) check(n uint64, ask func() limit) error {
	want := byteSize(n)
	if h.Limit != 0 && want > h.Limit {
		return refusal(want, limit{h.Limit, "the allocator's limit"})
	}
	if want > addressSpace {
		return refusal(want, limit{addressSpace, "the address space"})
	}
	return unchecked.fits(want, ask)
}

// refusal is the text for all sizes that are too large. The package's name is left to
// the caller, which may have more to say.
func refusal(want uint64, r limit) error {
	return fmt.Errorf("block of %s: at most %s by %s: %w", quantity.Bytes(float64(want)), quantity.Bytes(float64(r.bytes)), r.source, ErrMemory)
}

// takeAligned relies on the size classes of the Go heap: those that serve multiples of
// 64 bytes are multiples of 64 themselves, and larger blocks begin on pages. The second
// attempt is for runtimes that do otherwise.
func takeAligned(n int) []uint64 {
	whole := (n + lineWords - 1) / lineWords * lineWords
	words := make([]uint64, whole)
	skip := wordsToLine(words)
	if skip != 0 {
		words = make([]uint64, whole+lineWords-1)
		skip = wordsToLine(words)
	}
	return words[skip : skip+n : skip+n]
}

// wordsToLine returns how many words come before the first line boundary.
func wordsToLine(words []uint64) int {
	past := uintptr(unsafe.Pointer(unsafe.SliceData(words))) % lineBytes
	return int((lineBytes - past) % lineBytes / wordBytes)
}

// byteSize returns the size of n words, or the largest number if that is larger still.
func byteSize(n uint64) uint64 {
	if n > math.MaxUint64/wordBytes {
		return math.MaxUint64
	}
	return n * wordBytes
}
