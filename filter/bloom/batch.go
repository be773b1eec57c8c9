package bloom

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/bitvec"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// stride is how many keys of a batch are under way together: enough to keep the
// memory busy, few enough to stay in the first cache.
const stride = 16

// AddBatch adds the keys in order. It never fails.
func (f *Blocked) AddBatch(keys []filter.Key) (done, added int, err error) {
	return len(keys), f.addBatch(keys), nil
}

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
// shorter than keys.
func (f *Blocked) MayContainBatch(keys []filter.Key, out []bool) {
	f.hasBatch(keys, out[:len(keys):len(out)])
}

// portableHasBatch first reads one word of each of the next blocks, then tests
// the rest of them: the cache misses of a stride overlap.
func (f *Blocked) portableHasBatch(keys []filter.Key, out []bool) {
	var (
		blocks   [stride]*block
		patterns [stride]uint64
		all      [stride]uint64
	)
	for len(keys) > 0 {
		n := min(stride, len(keys))
		for i, k := range keys[:n] {
			b, p := f.locate(k)
			blocks[i], patterns[i], all[i] = b, p, bitvec.Load(&b[0])>>(p>>58)
		}
		for i := range n {
			b, p := blocks[i], patterns[i]
			found := all[i] & b.has(p)
			for range f.rounds - 1 {
				p = probe.Step(p)
				found &= b.has(p)
			}
			out[i] = found != 0
		}
		keys, out = keys[n:], out[n:]
	}
}

// portableAddBatch touches the blocks of a stride first, as portableHasBatch does.
func (f *Blocked) portableAddBatch(keys []filter.Key) (added int) {
	var touched uint64
	for len(keys) > 0 {
		n := min(stride, len(keys))
		for _, k := range keys[:n] {
			b, _ := f.locate(k)
			touched |= b[0]
		}
		for _, k := range keys[:n] {
			if fresh := f.portableAdd(k); fresh != 0 {
				f.set += fresh
				added++
			}
		}
		keys = keys[n:]
	}
	f.touched = touched
	return added
}

// AddBatch adds the keys in order. It never fails.
func (f *Filter) AddBatch(keys []filter.Key) (done, added int, err error) {
	for _, k := range keys {
		if isNew, _ := f.Add(k); isNew {
			added++
		}
	}
	return len(keys), added, nil
}
