package filter

import (
	"crypto/rand"
	"encoding/binary"
	"unique"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/twmb/murmur3"
	"github.com/zeebo/xxh3"
)

// A Hash turns bytes into Keys. It is a small value that can be compared with
// ==. The zero value is XXH3 with seed 0: sets that were built apart with it
// can be merged.
type Hash struct {
	algorithm algorithm
	seed      uint64 // of XXH3 and Murmur3
	secret    hidden // of SipHash
}

// hidden is a secret that can be compared and not be printed. A Hash that is an
// unexported field of something else is printed without being asked, all its
// fields, and pointers as addresses; the first pointer is followed, though, if
// the verb does not suit it. Hence two.
type hidden unique.Handle[unique.Handle[[2]uint64]]

func hide(secret [2]uint64) hidden { return hidden(unique.Make(unique.Make(secret))) }

func (h hidden) reveal() [2]uint64 {
	return unique.Handle[unique.Handle[[2]uint64]](h).Value().Value()
}

// The first three numbers are stored in files: do not change. XXH3 with a seed
// has a number of its own in memory only, so that one test finds the default.
type algorithm uint8

const (
	algorithmXXH3    algorithm = 0
	algorithmSipHash algorithm = 1
	algorithmMurmur3 algorithm = 2
	algorithmSeeded  algorithm = 3
)

var algorithmNames = [...]string{
	algorithmXXH3:    "xxh3",
	algorithmSipHash: "siphash",
	algorithmMurmur3: "murmur3",
	algorithmSeeded:  "xxh3",
}

// XXH3 returns the 64-bit XXH3 hash with the given seed: the fastest, and the
// default.
func XXH3(seed uint64) Hash {
	if seed == 0 {
		return Hash{}
	}
	return Hash{algorithm: algorithmSeeded, seed: seed}
}

// Murmur3 returns the first half of the 128-bit MurmurHash3 for x64, with the
// given seed: what the papers used.
func Murmur3(seed uint64) Hash {
	return Hash{algorithm: algorithmMurmur3, seed: seed}
}

// SipHash returns SipHash-2-4 keyed with secret.
func SipHash(secret [16]byte) Hash {
	return Hash{algorithm: algorithmSipHash, secret: hide([2]uint64{
		binary.LittleEndian.Uint64(secret[:8]), binary.LittleEndian.Uint64(secret[8:]),
	})}
}

// NewSipHash returns SipHash-2-4 with a new random secret, for keys that an
// adversary may choose. The secret is stored in the file of a set, so that the
// set can be opened again, and never printed.
func NewSipHash() Hash {
	var secret [16]byte
	_, _ = rand.Read(secret[:]) // never fails: see crypto/rand
	return SipHash(secret)
}

// KeyOf returns the Key of b by the default hash, as Hash{}.Bytes does but without
// looking which hash it is. The compiler inlines it.
func KeyOf(b []byte) Key { return Key(xxh3.Hash(b)) }

// KeyOfString is KeyOf for strings.
func KeyOfString(s string) Key { return Key(xxh3.HashString(s)) }

// Bytes returns the Key of b.
func (h Hash) Bytes(b []byte) Key {
	if h.algorithm == algorithmXXH3 {
		return Key(xxh3.Hash(b))
	}
	return h.keyed(b)
}

// String returns the Key of s, the same as that of its bytes.
func (h Hash) String(s string) Key {
	if h.algorithm == algorithmXXH3 {
		return Key(xxh3.HashString(s))
	}
	return h.keyed(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// keyed returns the Key of b for all hashes but the default.
func (h Hash) keyed(b []byte) Key {
	switch h.algorithm {
	case algorithmSipHash:
		secret := h.secret.reveal()
		return Key(siphash.Hash(secret[0], secret[1], b))
	case algorithmMurmur3:
		return Key(murmur3.SeedSum64(h.seed, b))
	default:
		return Key(xxh3.HashSeed(b, h.seed))
	}
}

// Uint64 returns the Key of x, the same as that of its 8 little-endian bytes.
func (h Hash) Uint64(x uint64) Key {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x)
	return h.Bytes(b[:])
}

// Secret reports whether the hash holds a secret, so that a file that stores it
// must not be readable by others.
func (h Hash) Secret() bool { return h.algorithm == algorithmSipHash }
