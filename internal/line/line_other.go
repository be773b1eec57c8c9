//go:build !amd64 || purego

package line

import "unsafe"

// Best returns the highest level of this machine.
func Best() Level { return Portable }

// Prefetch does nothing: portable code cannot ask for memory without reading it.
func Prefetch(unsafe.Pointer) {}

// PrefetchBytes does nothing.
func PrefetchBytes(*byte, int) {}

// Peek would read a word that a writer may be changing.
func Peek(*uint64) uint64 { return 0 }

// Has reports whether all bits of a fingerprint are set.
func (b *Block) Has(fingerprint uint64, rounds int) bool { return b.portableHas(fingerprint, rounds) }

// Add sets the bits of a fingerprint and reports whether any of them was clear. The
// caller is the only writer.
func (b *Block) Add(fingerprint uint64, rounds int) (fresh bool) {
	return b.portableAdd(fingerprint, rounds)
}

// Store gives every word its final value at once.
func (b *Block) Store(value *Block) { b.portableStore(value) }

// Collect sets the bits of all fingerprints of a run, of which there are some, in a
// block that has no readers yet.
func (b *Block) Collect(r Run, rounds int) { b.portableCollect(r, rounds) }

// Find returns the place of the first fingerprint v of a run that is not empty, or -1.
func (r Run) Find(v uint64) int { return r.portableFind(v) }

func (r Run) distinct(p, except uint64, rounds int) (distinct uint64, at int) {
	return r.portableDistinct(p, except, rounds)
}
