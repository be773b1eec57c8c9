//go:build amd64 && !purego

package evergreen

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/line"
)

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

// tablePrefetch asks for the block of a mixed key.
//
//go:noescape
func tablePrefetch(t *table, mixed uint64)

func (t *table) has(k filter.Key) bool { return tableHas(t, k) }

// tableLookup is has in Go.
func tableLookup(t *table, k filter.Key) bool { return t.portableHas(k) } //nolint:unused // the assembly calls it

// isSimple reports whether one round of AVX-512 will do for all keys.
func isSimple(level line.Level, s Shape) bool {
	return level == line.AVX512 && s.perWord() == 1 && s.Exact()
}

// wave is how many keys of a batch are asked for at once. It is in the assembly, too.
const wave = 32

// prefetchFrom is the size in blocks from which a batch asks for memory ahead of
// its turn. Below it, a megabyte, blocks are in the second cache anyway. It is a
// variable only so that tests can have small filters do it.
var prefetchFrom uint64 = 1 << 20 / 64

func (t *table) hasBatch(keys []filter.Key, out []bool) {
	switch {
	case t.level == line.Portable:
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

func (t *table) prefetchBlock(mixed uint64) {
	if t.level != line.Portable {
		tablePrefetch(t, mixed)
	}
}
