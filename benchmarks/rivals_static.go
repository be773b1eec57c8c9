package main

import (
	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"
)

const xorModule = "github.com/FastFilter/xorfilter"

// staticRivals cannot change once built. They show what knowing all keys in advance is worth.
var staticRivals = []contender{
	{name: "BinaryFuse8", module: xorModule, traits: static | short, peak: 400, build: newFuse8},
	{name: "BinaryFuse16", module: xorModule, traits: static, peak: 400, build: newFuse16},
}

// newFuse8 collects the hashed keys and builds the filter when all are there.
func newFuse8(w request) (set, error) {
	keys := make([]uint64, 0, w.n)
	var built *xorfilter.BinaryFuse8
	return set{
		add: func(b block) int { return collect(&keys, b) },
		has: func(b block) int {
			f := built
			return count(b, func(k []byte) bool { return f.Contains(xxh3.Hash(k)) })
		},
		finish: func() (err error) {
			built, err = xorfilter.PopulateBinaryFuse8(keys)
			keys = nil
			return err
		},
		bits: func() uint64 { return uint64(len(built.Fingerprints)) * 8 },
	}, nil
}

// newFuse16 is newFuse8 with fingerprints of 16 bits.
func newFuse16(w request) (set, error) {
	keys := make([]uint64, 0, w.n)
	var built *xorfilter.BinaryFuse[uint16]
	return set{
		add: func(b block) int { return collect(&keys, b) },
		has: func(b block) int {
			f := built
			return count(b, func(k []byte) bool { return f.Contains(xxh3.Hash(k)) })
		},
		finish: func() (err error) {
			built, err = xorfilter.NewBinaryFuse[uint16](keys)
			keys = nil
			return err
		},
		bits: func() uint64 { return uint64(len(built.Fingerprints)) * 16 },
	}, nil
}

// collect appends the hashes of the keys of b.
func collect(keys *[]uint64, b block) int {
	hashes := *keys
	n := addAll(b, func(k []byte) { hashes = append(hashes, xxh3.Hash(k)) })
	*keys = hashes
	return n
}
