//go:build amd64 && !purego

package bloom

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/line"
)

// blockHasOne is portableHas for one round, with AVX-512: the common case on
// current machines, without anything that would tell it from others.
//
//go:noescape
func blockHasOne(f *Blocked, k filter.Key) bool

// blockAddOne is portableAdd for the same case.
//
//go:noescape
func blockAddOne(f *Blocked, k filter.Key) (fresh uint64)

// blockHas is portableHas.
//
//go:noescape
func blockHas(f *Blocked, k filter.Key) bool

// blockAdd is portableAdd.
//
//go:noescape
func blockAdd(f *Blocked, k filter.Key) (fresh uint64)

// blockHasBatch is portableHasBatch, for n keys.
//
//go:noescape
func blockHasBatch(f *Blocked, keys *filter.Key, n int, out *bool)

// blockAddBatch adds n keys; added of them set a bit, fresh bits in all.
//
//go:noescape
func blockAddBatch(f *Blocked, keys *filter.Key, n int) (fresh, added uint64)

// HasFastPath reports whether the filter has MayContainFast and AddFast.
func (f *Blocked) HasFastPath() bool { return f.simple }

// MayContainFast is MayContain for filters with a fast path. The compiler inlines it,
// which saves a call.
func (f *Blocked) MayContainFast(k filter.Key) bool { return blockHasOne(f, k) }

// AddFast is Add for filters with a fast path. It returns how many bits it set, which the
// caller hands to CountBits later, and may run beside others that set bits of other
// blocks.
func (f *Blocked) AddFast(k filter.Key) (fresh uint64) { return blockAddOne(f, k) }

func (f *Blocked) has(k filter.Key) bool {
	if f.simple {
		return blockHasOne(f, k)
	}
	return f.hasAny(k)
}

func (f *Blocked) hasAny(k filter.Key) bool {
	if f.level != line.Portable {
		return blockHas(f, k)
	}
	return f.portableHas(k)
}

func (f *Blocked) isSimple() bool { return f.level == line.AVX512 && f.rounds == 1 }

func (f *Blocked) add(k filter.Key) (fresh uint64) {
	if f.simple {
		return blockAddOne(f, k)
	}
	return f.addAny(k)
}

func (f *Blocked) addAny(k filter.Key) (fresh uint64) {
	if f.level != line.Portable {
		return blockAdd(f, k)
	}
	return f.portableAdd(k)
}

// maxRun bounds the keys of one call: assembly cannot be interrupted, and the
// garbage collector should not wait for a long batch.
const maxRun = 1024

// prefetchFrom is the size from which a batch asks for blocks ahead of their
// turn. Below it, a megabyte, they are in the second cache anyway.
const prefetchFrom = 1 << 20 / 64

func (f *Blocked) hasBatch(keys []filter.Key, out []bool) {
	switch {
	case f.level == line.Portable:
		f.portableHasBatch(keys, out)
		return
	case f.blocks < prefetchFrom:
		for i, k := range keys {
			out[i] = f.has(k)
		}
		return
	}
	for len(keys) > 0 {
		n := min(maxRun, len(keys))
		blockHasBatch(f, &keys[0], n, &out[0])
		keys, out = keys[n:], out[n:]
	}
}

func (f *Blocked) addBatch(keys []filter.Key) (added int) {
	if f.level == line.Portable {
		return f.portableAddBatch(keys)
	}
	for len(keys) > 0 {
		n := min(maxRun, len(keys))
		freshBits, addedKeys := blockAddBatch(f, &keys[0], n)
		f.set += freshBits
		added += int(addedKeys)
		keys = keys[n:]
	}
	return added
}
