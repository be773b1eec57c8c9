package main

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// references are the rows the others are to be read against: what the harness itself takes,
// what no filter can undercut by much, and sets that are exact.
var references = []contender{
	{name: "loop (keys only)", traits: noFilter | short, peak: 1, build: newLoop},
	{name: "floor (xxh3 + 1 bit)", traits: short, peak: 32, build: newFloor},
	{name: "linear probing 64b", peak: 100, build: newProbing},
	{name: "go map[uint64]", traits: short, peak: 400, build: newMap},
}

// newLoop reads the keys and does nothing else.
func newLoop(request) (set, error) {
	read := func(b block) int {
		return count(b, func(k []byte) bool { return k[0] == 0 })
	}
	return set{add: read, has: read, reset: func() {}}, nil
}

// newFloor is one bit per key in as many bits as a classic filter has: a bound for everything
// that needs a hash and one cache line.
func newFloor(w request) (set, error) {
	m := uint64(math.Ceil(float64(w.n) * -math.Log(w.fpr) / (math.Ln2 * math.Ln2)))
	words := make([]uint64, (m+63)/64)
	return set{
		add: func(b block) int {
			return addAll(b, func(k []byte) {
				i, _ := bits.Mul64(xxh3.Hash(k), m)
				words[i/64] |= 1 << (i % 64)
			})
		},
		has: func(b block) int {
			return count(b, func(k []byte) bool {
				i, _ := bits.Mul64(xxh3.Hash(k), m)
				return words[i/64]&(1<<(i%64)) != 0
			})
		},
		reset: func() { clear(words) },
		bits:  func() uint64 { return m },
	}, nil
}

// newMap is the exact set.
func newMap(w request) (set, error) {
	m := make(map[uint64]struct{}, w.n)
	return set{
		add: func(b block) int {
			return addAll(b, func(k []byte) { m[mapKey(k)] = struct{}{} })
		},
		has: func(b block) int {
			return count(b, func(k []byte) bool { _, ok := m[mapKey(k)]; return ok })
		},
		del: func(b block) int {
			before := len(m)
			addAll(b, func(k []byte) { delete(m, mapKey(k)) })
			return before - len(m)
		},
		reset: func() { clear(m) },
	}, nil
}

// mapKey returns a key of 8 bytes as it is and hashes longer ones, as people do.
func mapKey(k []byte) uint64 {
	if len(k) == 8 {
		return binary.LittleEndian.Uint64(k)
	}
	return xxh3.Hash(k)
}
