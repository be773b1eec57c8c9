//go:build race

package bitvec

import "sync/atomic"

// Load is atomic under the race detector, which thereby tells these races, which are
// meant, from all others.
func Load(word *uint64) uint64 { return atomic.LoadUint64(word) }

// Store is atomic for the same reason.
func Store(word *uint64, value uint64) { atomic.StoreUint64(word, value) }
