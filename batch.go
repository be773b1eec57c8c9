package everbloom

import "github.com/everbloom-go/everbloom/filter"

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
	var answers []bool
	_ = s.split(keys, func(h *shard, keys []filter.Key, index []int) error {
		h.rlock()
		defer h.runlock()
		if index == nil {
			filter.MayContainBatch(h.filter, keys, out)
			return nil
		}
		answers = append(answers[:0], make([]bool, len(keys))...)
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
	own := make([][]filter.Key, len(s.shards))
	index := make([][]int, len(s.shards))
	for i, k := range keys {
		n := filter.Reduce(shardMixer.Mix(k), uint64(len(s.shards)))
		own[n] = append(own[n], k)
		index[n] = append(index[n], i)
	}
	for n := range s.shards {
		if len(own[n]) == 0 {
			continue
		}
		if err := do(&s.shards[n], own[n], index[n]); err != nil {
			return err
		}
	}
	return nil
}
