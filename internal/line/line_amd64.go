//go:build amd64 && !purego

package line

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Best returns the highest level of this machine.
func Best() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2 || !x.HasPOPCNT:
		return Portable
	case !x.HasAVX512F || !x.HasAVX512DQ:
		return AVX2
	}
	return AVX512
}

// blockHas is portableHas.
//
//go:noescape
func blockHas(b *Block, fingerprint uint64, rounds int) bool

// blockAdd is portableAdd.
//
//go:noescape
func blockAdd(b *Block, fingerprint uint64, rounds int) (fresh bool)

// blockStore is portableStore.
//
//go:noescape
func blockStore(b, value *Block)

// blockCollect is portableCollect, for n above 0 fingerprints.
//
//go:noescape
func blockCollect(b *Block, first *byte, n, width int, mask uint64, rounds int)

// runDistinct is portableDistinct with AVX-512, for n above 0 fingerprints. Bits of
// distinct that mean nothing may be set.
//
//go:noescape
func runDistinct(first *byte, n, width int, mask, p, except uint64, rounds int) (distinct uint64, at int)

// runFind is portableFind, for n above 0 fingerprints.
//
//go:noescape
func runFind(first *byte, n, width int, mask, v uint64) int

// Prefetch asks for the line of an address.
//
//go:noescape
func Prefetch(p unsafe.Pointer)

// PrefetchBytes asks for all lines of n bytes.
//
//go:noescape
func PrefetchBytes(first *byte, n int)

// Peek reads a word that a writer may be changing.
//
//go:noescape
func Peek(p *uint64) uint64

// Has reports whether all bits of a fingerprint are set.
func (b *Block) Has(fingerprint uint64, rounds int) bool {
	if CPU == Portable {
		return b.portableHas(fingerprint, rounds)
	}
	return blockHas(b, fingerprint, rounds)
}

// Add sets the bits of a fingerprint and reports whether any of them was clear. The
// caller is the only writer.
func (b *Block) Add(fingerprint uint64, rounds int) (fresh bool) {
	if CPU == Portable {
		return b.portableAdd(fingerprint, rounds)
	}
	return blockAdd(b, fingerprint, rounds)
}

// Store gives every word its final value at once.
func (b *Block) Store(value *Block) {
	if CPU == Portable {
		b.portableStore(value)
		return
	}
	blockStore(b, value)
}

// Collect sets the bits of all fingerprints of a run, of which there are some, in a
// block that has no readers yet.
func (b *Block) Collect(r Run, rounds int) {
	if CPU == Portable {
		b.portableCollect(r, rounds)
		return
	}
	blockCollect(b, &r.Bytes[0], r.Len(), int(r.width), r.mask(), rounds)
}

// Find returns the place of the first fingerprint v of a run that is not empty, or -1.
func (r Run) Find(v uint64) int {
	if CPU == Portable {
		return r.portableFind(v)
	}
	return runFind(&r.Bytes[0], r.Len(), int(r.width), r.mask(), v)
}

func (r Run) distinct(p, except uint64, rounds int) (distinct uint64, at int) {
	if CPU != AVX512 {
		return r.portableDistinct(p, except, rounds)
	}
	return runDistinct(&r.Bytes[0], r.Len(), int(r.width), r.mask(), p, except, rounds)
}
