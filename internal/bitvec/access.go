//go:build !race

package bitvec

// Load reads a word that a writer may be changing. It is a plain read: Go's memory
// model lets a read that races with writes of a word see only values that were
// written, and the bits of a word mean something each by itself, so that the halves
// of a word on 32-bit systems do as well. An atomic read would keep the processor
// from overlapping cache misses on some architectures.
func Load(word *uint64) uint64 { return *word }

// Store writes a word that readers may be loading. Writers exclude each other.
func Store(word *uint64, value uint64) { *word = value }
