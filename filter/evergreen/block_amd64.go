//go:build amd64 && !purego

package evergreen

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/everbloom-go/everbloom/filter"
)

// Which instructions the assembly may use. The level is a variable only so that
// tests can go through all of them.
const (
	levelPortable = iota
	levelAVX2
	levelAVX512
)

var level = bestLevel()

func bestLevel() uint8 {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasBMI1 || !cpu.X86.HasBMI2:
		return levelPortable
	case !cpu.X86.HasAVX512F || !cpu.X86.HasAVX512DQ:
		return levelAVX2
	}
	return levelAVX512
}

// filterHasOne is portableHas for one round and whole keys, with AVX-512: the common
// case on current machines, without anything that would tell it from others.
//
//go:noescape
func filterHasOne(f *Filter, k filter.Key) bool

// filterHas is portableHas.
//
//go:noescape
func filterHas(f *Filter, k filter.Key) bool

// filterHasBatch answers for n keys, at most a wave of them, and the given state,
// whatever the state is meanwhile. If a block is gone it gives no answers.
//
//go:noescape
func filterHasBatch(f *Filter, keys *filter.Key, n int, out *bool, s state) (gone bool)

// lineHas is block.portableHas.
//
//go:noescape
func lineHas(b *block, fingerprint uint64, rounds int) bool

// lineAdd is block.portableAdd.
//
//go:noescape
func lineAdd(b *block, fingerprint uint64, rounds int) (fresh bool)

// lineStore is block.portableStore.
//
//go:noescape
func lineStore(b, value *block)

// lineCollect is block.portableCollect, for n above 0 fingerprints that begin at
// first.
//
//go:noescape
func lineCollect(b *block, first *byte, n, width int, mask uint64, rounds int)

// runApart is geometry.portableApart with AVX-512, for n above 0 fingerprints that
// begin at first. Bits of apart that mean nothing may be set.
//
//go:noescape
func runApart(first *byte, n, width int, mask, p, except uint64, rounds int) (apart uint64, at int)

// runFind is geometry.portableFind, for n above 0 fingerprints that begin at first.
//
//go:noescape
func runFind(first *byte, n, width int, mask, v uint64) int

// filterExpect asks for the block of a mixed key.
//
//go:noescape
func filterExpect(f *Filter, mixed uint64)

// prefetch asks for the line of an address.
//
//go:noescape
func prefetch(p unsafe.Pointer)

// prefetchRun asks for the lines of a run of so many bytes.
//
//go:noescape
func prefetchRun(first *byte, bytes int)

// peek reads a word that somebody may be writing.
//
//go:noescape
func peek(p *uint64) uint64

func (f *Filter) isSimple() bool { return level == levelAVX512 && f.rounds == 1 && f.full }

func (f *Filter) has(k filter.Key) bool {
	if level != levelPortable {
		return filterHas(f, k)
	}
	return f.portableHas(k)
}

// wave is how many keys of a batch are asked for at once. It is in the assembly, too.
const wave = 32

// prefetchFrom is the size in blocks from which a batch asks for memory ahead of
// its turn. Below it, a megabyte, blocks are in the second cache anyway. It is a
// variable only so that tests can have small filters do it.
var prefetchFrom uint64 = 1 << 20 / 64

func (f *Filter) hasBatch(keys []filter.Key, out []bool) {
	switch {
	case level == levelPortable:
		f.portableHasBatch(keys, out)
		return
	case f.load().blocks() < prefetchFrom:
		for i, k := range keys {
			out[i] = f.MayContain(k)
		}
		return
	}
	for len(keys) > 0 {
		n := min(wave, len(keys))
		s := f.load()
		if gone := filterHasBatch(f, &keys[0], n, &out[0], s); gone {
			clear(out[:n])
		}
		if f.load() != s {
			f.askAgain(keys[:n], out[:n])
		}
		keys, out = keys[n:], out[n:]
	}
}

func (b *block) has(fingerprint uint64, rounds int) bool {
	if level == levelPortable {
		return b.portableHas(fingerprint, rounds)
	}
	return lineHas(b, fingerprint, rounds)
}

func (b *block) add(fingerprint uint64, rounds int) (fresh bool) {
	if level == levelPortable {
		return b.portableAdd(fingerprint, rounds)
	}
	return lineAdd(b, fingerprint, rounds)
}

func (b *block) store(value *block) {
	if level == levelPortable {
		b.portableStore(value)
		return
	}
	lineStore(b, value)
}

func (b *block) collect(run []byte, n int, g *geometry, rounds int) {
	if level == levelPortable {
		b.portableCollect(run, n, g, rounds)
		return
	}
	lineCollect(b, &run[ownerBytes], n, g.width, g.mask, rounds)
}

func (g *geometry) apart(run []byte, n int, p, except uint64, rounds int) (apart uint64, at int) {
	if level != levelAVX512 {
		return g.portableApart(run, n, p, except, rounds)
	}
	return runApart(&run[ownerBytes], n, g.width, g.mask, p, except, rounds)
}

func (g *geometry) find(run []byte, n int, v uint64) int {
	if level == levelPortable {
		return g.portableFind(run, n, v)
	}
	return runFind(&run[ownerBytes], n, g.width, g.mask, v)
}

func (f *Filter) expectBlock(mixed uint64) {
	if level != levelPortable {
		filterExpect(f, mixed)
	}
}
