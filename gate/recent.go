package gate

import (
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
)

// recent remembers keys that are in the good set for certain, one in each slot.
// Nothing depends on which of them it remembers.
type recent struct {
	slots []filter.Key // a power of two; 0 is free
	shift uint
}

// newRecent returns a memory of at most so many bytes.
func newRecent(bytes uint64) recent {
	if bytes < 8 {
		return recent{}
	}
	logarithm := bits.Len64(bytes/8) - 1
	return recent{slots: make([]filter.Key, 1<<logarithm), shift: uint(64 - logarithm)}
}

func (r *recent) slot(k filter.Key) *filter.Key { return &r.slots[uint64(k)>>r.shift] }

// has reports whether k is remembered. The key that marks free slots never is.
func (r *recent) has(k filter.Key) bool {
	return k != 0 && len(r.slots) > 0 && *r.slot(k) == k
}

func (r *recent) note(k filter.Key) {
	if len(r.slots) > 0 {
		*r.slot(k) = k
	}
}

func (r *recent) forget(k filter.Key) {
	if r.has(k) {
		*r.slot(k) = 0
	}
}
