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

// filterHas is filterLookup, which it calls if there is no table or no assembly for
// it.
//
//go:noescape
func filterHas(f *Filter, k filter.Key) bool

// tableHas is tableLookup, which it calls if there is no assembly for it.
//
//go:noescape
func tableHas(t *table, k filter.Key) bool

// tableHasBatch answers for n keys, at most a wave of them, and the given state,
// whatever the state is meanwhile. If a block is gone it gives no answers.
//
//go:noescape
func tableHasBatch(t *table, keys *filter.Key, n int, out *bool, s state) (gone bool)

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

// tableExpect asks for the block of a mixed key.
//
//go:noescape
func tableExpect(t *table, mixed uint64)

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

func (t *table) isSimple() bool { return level == levelAVX512 && t.rounds == 1 && t.full }

func (t *table) has(k filter.Key) bool { return tableHas(t, k) }

// tableLookup is has in Go.
func tableLookup(t *table, k filter.Key) bool { return t.portableHas(k) } //nolint:unused // the assembly calls it

// wave is how many keys of a batch are asked for at once. It is in the assembly, too.
const wave = 32

// prefetchFrom is the size in blocks from which a batch asks for memory ahead of
// its turn. Below it, a megabyte, blocks are in the second cache anyway. It is a
// variable only so that tests can have small filters do it.
var prefetchFrom uint64 = 1 << 20 / 64

func (t *table) hasBatch(keys []filter.Key, out []bool) {
	switch {
	case level == levelPortable:
		t.portableHasBatch(keys, out)
		return
	case t.load().blocks() < prefetchFrom:
		for i, k := range keys {
			out[i] = t.has(k)
		}
		return
	}
	for len(keys) > 0 {
		n := min(wave, len(keys))
		s := t.load()
		if gone := tableHasBatch(t, &keys[0], n, &out[0], s); gone {
			clear(out[:n])
		}
		if t.load() != s {
			t.askAgain(keys[:n], out[:n])
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

func (t *table) expectBlock(mixed uint64) {
	if level != levelPortable {
		tableExpect(t, mixed)
	}
}
