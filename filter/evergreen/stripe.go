package evergreen

import "sync"

const (
	stripeBits  = 6
	stripeCount = 1 << stripeBits
)

// stripes are the writers' locks. The lowest bits of an address choose one. A block
// shares these bits with the block it was split from and with those split from it, at
// every size, so keys stay in their stripe.
type stripes [stripeCount]stripe

// A stripe guards its blocks, their runs, and what it counts.
type stripe struct {
	sync.Mutex
	keys    int64 // fingerprints in its blocks, and in its inbox
	changed int64 // keys that meter.keys does not have yet
	pending int64 // rate that meter.sum does not have yet
	inbox   inbox
}

// An inbox has mixed keys of a stripe that are not in their runs yet.
//
// In a large filter a new key would wait for two cache misses in a row, that of the
// ref and that of the run. So new keys first go into the inbox of their stripe, and
// are delivered many at a time, so that the misses overlap. The bits in the blocks
// are set at once: readers see no difference. Where a key in an inbox belongs is
// found out when it is needed, so blocks can split and merge meanwhile.
type inbox struct {
	mixed   *[inboxSize]uint64 // nil before it is first used
	count   int
	crowded bool // a block of the stripe is nearly full: there is no inbox any more
}

const (
	inboxSize = 32

	// crowdedAt is how far below the largest run inboxes end: what may wait there
	// must find room.
	crowdedAt = 2 * inboxSize
)

// inboxFrom is the number of blocks from which inboxes are used: 2 MiB of blocks
// and a million keys, of which those waiting are 0.2 %. It is a variable only so
// that tests can have inboxes in small filters.
var inboxFrom uint64 = 1 << 15

// keys returns the mixed keys that wait.
func (b *inbox) keys() []uint64 {
	if b.mixed == nil {
		return nil
	}
	return b.mixed[:b.count]
}

// put adds a mixed key to an inbox that is open.
func (b *inbox) put(mixed uint64) {
	b.mixed[b.count] = mixed
	b.count++
}

// of returns the stripe of a block or an address.
func (s *stripes) of(block uint64) *stripe { return &s[block%stripeCount] }

// TryLock is for [slab.Locks].
func (s *stripes) TryLock(block, held uint64) bool {
	return s.of(block) == s.of(held) || s.of(block).TryLock()
}

// Unlock is for [slab.Locks].
func (s *stripes) Unlock(block, held uint64) {
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
