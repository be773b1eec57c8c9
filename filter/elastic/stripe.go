package elastic

import (
	"math/bits"
	"sync"
)

const (
	// runTrees is how many trees are split at a time: their bits are whole words of the
	// fast memory, whatever the number of branches is.
	runTrees = 64

	mostStripes = 256
)

// stripes are the writers' locks. A stripe guards neighbouring trees of a segment, the
// same in every segment, and their bits: the number of a key tells its stripe whatever
// the size is, and both twins of a split are in one stripe. A stripe is some whole runs,
// the last one with the rest of the segment. So no word of the fast memory belongs to two
// stripes. A word of the slow memory can, where two stripes meet: the trees there
// need both locks.
type stripes struct {
	locks []stripe
	shift uint64 // log2 of the trees of a stripe
	trees uint64 // of a segment
	edge  uint64 // trees at an end of a stripe that can share words with the next one
}

// A stripe is alone in its cache line.
type stripe struct {
	sync.Mutex
	_ [56]byte
}

// newStripes returns locks for the trees of a layout. A small segment has few of them.
func newStripes(l *layout) stripes {
	least := l.frontBits
	if l.backBits > 0 {
		least = min(least, l.backBits)
	}
	s := stripes{shift: uint64(bits.Len(runTrees - 1)), trees: l.segment, edge: (63 + least) / least}
	for l.segment>>s.shift > mostStripes {
		s.shift++
	}
	s.locks = make([]stripe, max(1, l.segment>>s.shift))
	return s
}

// A lockset is the stripes that an operation needs. They are locked in ascending order.
type lockset [mostStripes / 64]uint64

func (s *lockset) add(stripe uint64) { s[stripe/64] |= 1 << (stripe % 64) }

// of returns the stripe of a tree.
func (s *stripes) of(group uint64) uint64 { return min(group>>s.shift, uint64(len(s.locks))-1) }

// include adds what is needed to use the trees from first to last, which are of one
// stripe. The neighbours are cyclic, since the next segment follows the last stripe.
func (s *stripes) include(set *lockset, first, last uint64) {
	n := uint64(len(s.locks))
	i := s.of(first)
	set.add(i)
	if first-i<<s.shift < s.edge {
		set.add((i + n - 1) % n)
	}
	end := (i + 1) << s.shift
	if i == n-1 {
		end = s.trees
	}
	if end-last <= s.edge {
		set.add((i + 1) % n)
	}
}

func (s *stripes) lock(set *lockset) {
	for i, w := range set {
		for ; w != 0; w &= w - 1 {
			s.locks[64*i+bits.TrailingZeros64(w)].Lock()
		}
	}
}

func (s *stripes) unlock(set *lockset) {
	for i, w := range set {
		for ; w != 0; w &= w - 1 {
			s.locks[64*i+bits.TrailingZeros64(w)].Unlock()
		}
	}
}

func (s *stripes) lockAll() {
	for i := range s.locks {
		s.locks[i].Lock()
	}
}

func (s *stripes) unlockAll() {
	for i := range s.locks {
		s.locks[i].Unlock()
	}
}
