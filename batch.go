package everbloom

import (
	"errors"
	"slices"
	"sync"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// AddBatch adds keys that were hashed with the set's Hash before. It returns how many
// looked new, and if added is not nil tells in added[i] whether keys[i] did. After an
// error some of the keys are in the set and others are not; adding them again is safe
// where the kind ignores duplicates. It panics if added is shorter than keys.
func (s *Set) AddBatch(keys []filter.Key, added []bool) (n int, err error) {
	if added != nil {
		added = added[:len(keys):len(added)] // the third bound: what lies beyond belongs to the caller
	}
	if s.shards.oneByOne(keys) {
		return s.shards.addOneByOne(keys, added)
	}
	err = s.shards.split(keys, func(sh *shard, p portion) error {
		sh.lock()
		defer sh.unlock()
		if added == nil {
			_, fresh, err := filter.AddBatch(sh.filter, p.keys)
			n += fresh
			return err
		}
		out := resultsOf(p, added, p.bools)
		done, err := filter.AddEach(sh.filter, p.keys, out)
		for i, isNew := range out[:done] {
			if isNew {
				n++
			}
			if p.index != nil {
				added[p.index[i]] = isNew
			}
		}
		return err
	})
	return n, err
}

func (s shards) addOneByOne(keys []filter.Key, added []bool) (n int, err error) {
	for i, k := range keys {
		sh := s.of(k)
		if sh == nil {
			return n, errZero
		}
		isNew, err := sh.add(k)
		if err != nil {
			return n, err
		}
		if isNew {
			n++
		}
		if added != nil {
			added[i] = isNew
		}
	}
	return n, nil
}

// MayContainBatch answers MayContainKey(keys[i]) in out[i]. It panics if out is
// shorter than keys.
func (s *Set) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	if s.shards.oneByOne(keys) {
		for i, k := range keys {
			out[i] = s.shards.mayContain(k)
		}
		return
	}
	_ = s.shards.split(keys, func(sh *shard, p portion) error {
		answers := resultsOf(p, out, p.bools)
		sh.mayContainBatch(p.keys, answers)
		for i, at := range p.index {
			out[at] = answers[i]
		}
		return nil
	})
}

// DeleteBatch deletes keys that were hashed with the set's Hash before. Keys that are
// absent or pinned are counted and passed over. If results is not nil it tells in
// results[i] what happened to keys[i]: nil, filter.ErrNotFound or filter.ErrPinned.
// It panics if results is shorter than keys.
func (s *Set) DeleteBatch(keys []filter.Key, results []error) (deleted, notFound, pinned int, err error) {
	if results != nil {
		results = results[:len(keys):len(results)]
	}
	if s.shards.oneByOne(keys) {
		return s.shards.deleteOneByOne(keys, results)
	}
	err = s.shards.split(keys, func(sh *shard, p portion) error {
		sh.lock()
		defer sh.unlock()
		if results == nil {
			d, n, pins, err := filter.DeleteBatch(sh.filter, p.keys)
			deleted, notFound, pinned = deleted+d, notFound+n, pinned+pins
			return err
		}
		out := resultsOf(p, results, p.errs)
		done, err := filter.DeleteEach(sh.filter, p.keys, out)
		for i, result := range out[:done] {
			count(result, &deleted, &notFound, &pinned)
			if p.index != nil {
				results[p.index[i]] = result
			}
		}
		return err
	})
	return deleted, notFound, pinned, err
}

func (s shards) deleteOneByOne(keys []filter.Key, results []error) (deleted, notFound, pinned int, err error) {
	for i, k := range keys {
		result := s.delete(k)
		if !count(result, &deleted, &notFound, &pinned) {
			return deleted, notFound, pinned, result
		}
		if results != nil {
			results[i] = result
		}
	}
	return deleted, notFound, pinned, nil
}

// count counts the result of a Delete and reports whether it is one that does not
// stop a batch.
func count(result error, deleted, notFound, pinned *int) bool {
	switch {
	case result == nil:
		*deleted++
	case errors.Is(result, filter.ErrNotFound):
		*notFound++
	case errors.Is(result, filter.ErrPinned):
		*pinned++
	default:
		return false
	}
	return true
}

// A portion is what one shard has of a batch.
type portion struct {
	keys  []filter.Key
	index []int   // where each stood in the batch; nil if they are the whole batch
	bools []bool  // room for results, if there is an index
	errs  []error // the same
}

// resultsOf returns where the results of a portion go: into those of the whole batch
// if it is that, else into the room it has.
func resultsOf[T any](p portion, all, room []T) []T {
	if p.index == nil {
		return all
	}
	return room
}

// perShard is how many keys per shard make sorting a batch by shards pay.
const perShard = 16

// oneByOne reports whether a batch is done key by key: the set has too many shards
// for it, or none.
func (s shards) oneByOne(keys []filter.Key) bool {
	return len(s) == 0 || len(s) > 1 && len(keys) < perShard*len(s)
}

// split calls do for each shard that has keys, with its portion.
func (s shards) split(keys []filter.Key, do func(sh *shard, p portion) error) error {
	if len(s) == 1 {
		return do(&s[0], portion{keys: keys})
	}
	b := sortings.Get().(*sorting)
	defer sortings.Put(b)
	b.sort(keys, len(s))
	for n := range s {
		lo, hi := b.ends[n], b.ends[n+1]
		if lo == hi {
			continue
		}
		p := portion{b.keys[lo:hi], b.index[lo:hi], b.bools[lo:hi], b.errs[lo:hi]}
		if err := do(&s[n], p); err != nil {
			return err
		}
	}
	return nil
}

// A sorting holds the keys of a batch, shard by shard. It is used again and again,
// so that batches do not allocate.
type sorting struct {
	keys  []filter.Key
	index []int   // where each stood in the batch
	shard []int   // of each key of the batch
	ends  []int   // shard n has keys[ends[n]:ends[n+1]]
	bools []bool  // for results
	errs  []error // for results
}

var sortings = sync.Pool{New: func() any { return new(sorting) }}

func (b *sorting) sort(keys []filter.Key, shards int) {
	b.keys = resize(b.keys, len(keys))
	b.index = resize(b.index, len(keys))
	b.shard = resize(b.shard, len(keys))
	b.bools = resize(b.bools, len(keys))
	b.errs = resize(b.errs, len(keys))
	b.ends = resize(b.ends, shards+2)
	clear(b.ends)
	for i, k := range keys {
		b.shard[i] = int(probe.Reduce(shardMixer.Mix(k), uint64(shards)))
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

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
