package everbloom

import (
	"slices"
	"sync"

	"github.com/everbloom-go/everbloom/filter"
)

// AddBatch adds keys that were hashed with the set's Hash before. It returns how
// many looked new. After an error some of the keys are in the set and others are
// not; adding them again is safe where the kind ignores duplicates.
func (s *Set) AddBatch(keys []filter.Key) (added int, err error) {
	err = s.split(keys, func(h *shard, keys []filter.Key, _ []int) error {
		h.lock()
		defer h.unlock()
		_, n, err := filter.AddBatch(h.filter, keys)
		added += n
		return err
	})
	return added, err
}

// MayContainBatch answers MayContainKey(keys[i]) in out[i]. It panics if out is
// shorter than keys.
func (s *Set) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)] // the third bound: what lies beyond out's length is not ours
	var answers []bool             // of one shard
	_ = s.split(keys, func(h *shard, keys []filter.Key, index []int) error {
		h.rlock()
		defer h.runlock()
		if index == nil {
			filter.MayContainBatch(h.filter, keys, out)
			return nil
		}
		answers = slices.Grow(answers[:0], len(keys))[:len(keys)]
		filter.MayContainBatch(h.filter, keys, answers)
		for i, yes := range answers {
			out[index[i]] = yes
		}
		return nil
	})
}

// DeleteBatch deletes keys that were hashed with the set's Hash before. Keys
// that are absent or pinned are counted and passed over.
func (s *Set) DeleteBatch(keys []filter.Key) (deleted, notFound, pinned int, err error) {
	err = s.split(keys, func(h *shard, keys []filter.Key, _ []int) error {
		h.lock()
		defer h.unlock()
		d, n, p, err := filter.DeleteBatch(h.filter, keys)
		deleted, notFound, pinned = deleted+d, notFound+n, pinned+p
		return err
	})
	return deleted, notFound, pinned, err
}

// split calls do for each shard with the keys that belong to it and where they
// stood in keys; index is nil if they are all of them.
func (s *Set) split(keys []filter.Key, do func(h *shard, keys []filter.Key, index []int) error) error {
	if len(s.shards) == 1 {
		return do(&s.shards[0], keys, nil)
	}
	b := sortings.Get().(*sorting)
	defer sortings.Put(b)
	b.sort(keys, len(s.shards))
	for n := range s.shards {
		lo, hi := b.ends[n], b.ends[n+1]
		if lo == hi {
			continue
		}
		if err := do(&s.shards[n], b.keys[lo:hi], b.index[lo:hi]); err != nil {
			return err
		}
	}
	return nil
}

// A sorting holds the keys of a batch, shard by shard. It is used again and again,
// so that batches do not allocate.
type sorting struct {
	keys  []filter.Key
	index []int // where each stood in the batch
	shard []int // of each key of the batch
	ends  []int // shard n has keys[ends[n]:ends[n+1]]
}

var sortings = sync.Pool{New: func() any { return new(sorting) }}

func (b *sorting) sort(keys []filter.Key, shards int) {
	b.keys = slices.Grow(b.keys[:0], len(keys))[:len(keys)]
	b.index = slices.Grow(b.index[:0], len(keys))[:len(keys)]
	b.shard = slices.Grow(b.shard[:0], len(keys))[:len(keys)]
	b.ends = slices.Grow(b.ends[:0], shards+2)[:shards+2]
	clear(b.ends)
	for i, k := range keys {
		b.shard[i] = int(filter.Reduce(shardMixer.Mix(k), uint64(shards)))
		b.ends[b.shard[i]+2]++
	}
	for n := range shards {
		b.ends[n+2] += b.ends[n+1]
	}
	for i, k := range keys { // ends[n+1] runs through the places of shard n
		at := b.ends[b.shard[i]+1]
		b.ends[b.shard[i]+1]++
		b.keys[at], b.index[at] = k, i
	}
}
