package sum

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// seeded is the filter as [Sum] programs it: k random seeds, k MurmurHash3 hashes
// of 32 bits, each reduced modulo m. Our filters hash once to 64 bits, so no
// package has it.
type seeded struct {
	bits  []uint64
	size  uint32
	seeds []uint32
}

// newSeeded draws the seeds as set_seeds does: 31 bits each. A filter of this kind
// has fewer than 2^32 bits.
func newSeeded(r *rand.Rand, size uint32, hashes int) *seeded {
	f := &seeded{bits: make([]uint64, (uint64(size)+63)/64), size: size, seeds: make([]uint32, hashes)}
	for i := range f.seeds {
		f.seeds[i] = r.Uint32N(1 << 31)
	}
	return f
}

func (f *seeded) insert(key []byte) {
	for _, seed := range f.seeds {
		i := murmur32(key, seed) % f.size
		f.bits[i/64] |= 1 << (i % 64)
	}
}

func (f *seeded) contains(key []byte) bool {
	for _, seed := range f.seeds {
		i := murmur32(key, seed) % f.size
		if f.bits[i/64]>>(i%64)&1 == 0 {
			return false
		}
	}
	return true
}

// murmur32 is MurmurHash3 for 32 bits, the function behind Python's mmh3.hash.
func murmur32(key []byte, seed uint32) uint32 {
	h, n := seed, len(key)
	for ; len(key) >= 4; key = key[4:] {
		h ^= scatter(binary.LittleEndian.Uint32(key))
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	var tail uint32
	for i, b := range key {
		tail |= uint32(b) << (8 * i)
	}
	h ^= scatter(tail)
	h ^= uint32(n)
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

func scatter(x uint32) uint32 { return bits.RotateLeft32(x*0xcc9e2d51, 15) * 0x1b873593 }
