package evergreen

import "sync"

const (
	stripeBits  = 6
	stripeCount = 1 << stripeBits
)

// stripes are the writers' locks. The lowest bits of a mixed key choose one. A
// block shares these bits with the block it was split from and with those split
// from it, at every size, so keys stay in their stripe.
type stripes [stripeCount]stripe

// A stripe guards its blocks, their runs, and what it counts. One takes a line of
// the cache for itself.
type stripe struct {
	sync.Mutex
	keys    int64 // fingerprints in its blocks
	changed int64 // by how many keys differs from what is in Filter.keys
	pending int64 // what Filter.sum does not have yet: see control.go

	inbox   *inbox // keys that are not in their runs yet, see inbox.go
	waiting int    // how many
	crowded bool
	_       [7]byte
}

// of returns the stripe of a block or a mixed key.
func (s *stripes) of(x uint64) *stripe { return &s[x%stripeCount] }

// tryLock locks the stripe of a block if nobody has it, for one who holds that of
// the block held already.
func (s *stripes) tryLock(block, held uint64) bool {
	return s.of(block) == s.of(held) || s.of(block).TryLock()
}

// unlock undoes tryLock.
func (s *stripes) unlock(block, held uint64) {
	if s.of(block) != s.of(held) {
		s.of(block).Unlock()
	}
}

func (s *stripes) lockAll() {
	for i := range s {
		s[i].Lock()
	}
}

func (s *stripes) unlockAll() {
	for i := range s {
		s[i].Unlock()
	}
}
