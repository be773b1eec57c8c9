package everbloom

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/kinds"
)

// A Set is a set of byte strings that may answer yes too often and never no. It
// owns the hash, the filters and their locks, and is safe for concurrent use.
type Set struct {
	hash   filter.Hash
	shards []shard
	order  uint64 // locks of two sets are taken in this order
}

// lastOrder numbers the sets of this process.
var lastOrder atomic.Uint64

// shardMixer decides which shard a key belongs to; files depend on it. It must differ from those
// inside the filters, whose salts are small or random, or a shard's keys would
// crowd into a part of its filter.
var shardMixer = filter.NewMixer(0x5A4A6D5348415244)

// New returns an empty set of the kind that [Plan] puts first, or of the kind
// that is named.
func New(n Needs) (*Set, error) { return build(kinds.All(), n) }

func build(table []kinds.Kind, n Needs) (*Set, error) {
	k, err := choose(table, n)
	if err != nil {
		return nil, err
	}
	n, _ = n.withDefaults() // choose has reported what is wrong
	filters := make([]filter.Filter, n.Shards)
	for i := range filters {
		if filters[i], err = k.New(kinds.Config{Items: n.itemsPerShard(), FPR: n.FPR}); err != nil {
			return nil, err
		}
	}
	return newSet(n.Hash, filters), nil
}

// itemsPerShard allows for the uneven split: four standard deviations.
func (n Needs) itemsPerShard() uint64 {
	if n.Shards == 1 {
		return n.Items
	}
	mean := float64(n.Items) / float64(n.Shards)
	return uint64(math.Ceil(mean + 4*math.Sqrt(mean)))
}

// NewSet returns a set over a filter that may hold keys already, hashed with h.
// The filter belongs to the set from then on.
func NewSet(f filter.Filter, h filter.Hash) *Set {
	return newSet(h, []filter.Filter{f})
}

func newSet(h filter.Hash, filters []filter.Filter) *Set {
	s := &Set{hash: h, shards: make([]shard, len(filters)), order: lastOrder.Add(1)}
	for i, f := range filters {
		_, concurrent := f.(filter.Concurrent)
		s.shards[i].filter, s.shards[i].concurrent = f, concurrent
	}
	return s
}

// Hash returns the hash that turns the set's keys into filter.Keys.
func (s *Set) Hash() filter.Hash { return s.hash }

// shardOf returns the shard that k belongs to.
func (s *Set) shardOf(k filter.Key) *shard {
	if len(s.shards) == 1 {
		return &s.shards[0]
	}
	return &s.shards[filter.Reduce(shardMixer.Mix(k), uint64(len(s.shards)))]
}

// A shard is one filter and its lock. Kinds that are safe by themselves are not
// locked.
type shard struct {
	mu         sync.RWMutex
	concurrent bool
	filter     filter.Filter
	_          [64]byte // keeps the locks of neighbours on different cache lines
}

func (h *shard) lock() {
	if !h.concurrent {
		h.mu.Lock()
	}
}

func (h *shard) unlock() {
	if !h.concurrent {
		h.mu.Unlock()
	}
}

func (h *shard) rlock() {
	if !h.concurrent {
		h.mu.RLock()
	}
}

func (h *shard) runlock() {
	if !h.concurrent {
		h.mu.RUnlock()
	}
}
