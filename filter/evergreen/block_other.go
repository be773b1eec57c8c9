//go:build !amd64 || purego

package evergreen

import (
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
)

func (t *table) has(k filter.Key) bool { return t.portableHas(k) }

func (t *table) hasBatch(keys []filter.Key, out []bool) { t.portableHasBatch(keys, out) }

func (b *block) has(fingerprint uint64, rounds int) bool { return b.portableHas(fingerprint, rounds) }

func (b *block) add(fingerprint uint64, rounds int) (fresh bool) {
	return b.portableAdd(fingerprint, rounds)
}

func (b *block) collect(run []byte, n int, g *geometry, rounds int) {
	b.portableCollect(run, n, g, rounds)
}

func (b *block) store(value *block) { b.portableStore(value) }

func (t *table) isSimple() bool { return false }

func filterHas(f *Filter, k filter.Key) bool { return filterLookup(f, k) }

// prefetch does nothing: portable code cannot ask for memory without reading it.
func prefetch(unsafe.Pointer) {}

func prefetchRun(*byte, int) {}

// peek would read a word that somebody may be writing.
func peek(*uint64) uint64 { return 0 }

// prefetchFrom is above all numbers of blocks.
const prefetchFrom = maxBlocks + 1

func (g *geometry) apart(run []byte, n int, p, except uint64, rounds int) (apart uint64, at int) {
	return g.portableApart(run, n, p, except, rounds)
}

func (g *geometry) find(run []byte, n int, v uint64) int { return g.portableFind(run, n, v) }

func (t *table) expectBlock(uint64) {}
