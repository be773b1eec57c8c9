//go:build !amd64 || purego

package evergreen

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/line"
)

func filterHas(f *Filter, k filter.Key) bool { return filterLookup(f, k) }

func (t *table) has(k filter.Key) bool { return t.portableHas(k) }

func (t *table) hasBatch(keys []filter.Key, out []bool) { t.portableHasBatch(keys, out) }

func isSimple(line.Level, Shape) bool { return false }

// prefetchFrom is above all numbers of blocks: portable code cannot prefetch.
var prefetchFrom uint64 = maxBlocks + 1

func (t *table) prefetchBlock(uint64) {}
