package gate

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// recent is a cache of keys that are in the tracked set for certain, one in each slot.
// Answers do not depend on which keys it holds.
type recent struct {
	slots []filter.Key // 0 is free
}

// newRecent returns a cache of at most so many bytes.
func newRecent(bytes uint64) (recent, error) {
	slots, err := table[filter.Key](bytes / 8)
	return recent{slots}, err
}

func (r *recent) slot(k filter.Key) *filter.Key {
	return &r.slots[probe.Reduce(uint64(k), uint64(len(r.slots)))]
}

// has reports whether k is in the cache. The key that marks free slots never is.
func (r *recent) has(k filter.Key) bool {
	return k != 0 && len(r.slots) > 0 && *r.slot(k) == k
}

func (r *recent) remember(k filter.Key) {
	if len(r.slots) > 0 {
		*r.slot(k) = k
	}
}

func (r *recent) forget(k filter.Key) {
	if r.has(k) {
		*r.slot(k) = 0
	}
}
