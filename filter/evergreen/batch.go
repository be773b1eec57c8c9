package evergreen

import (
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
)

// stride is how many keys of a batch are under way together: enough to keep the
// memory busy, few enough to stay in the first cache.
const stride = 16

// addBatch adds the keys in order.
func (t *table) addBatch(keys []filter.Key) (done, added int, err error) {
	for len(keys) > 0 {
		n := min(stride, len(keys))
		t.prefetchAdd(keys[:n])
		for _, k := range keys[:n] {
			isNew, err := t.add(t.mixer.mix(k))
			if err != nil {
				return done, added, err
			}
			done++
			if isNew {
				added++
			}
		}
		keys = keys[n:]
	}
	return done, added, nil
}

// portableHasBatch first finds the blocks of a stride and reads a word of each, so
// that their cache misses overlap. A state for all of them will do: if it has moved
// when all are answered, the noes are asked again.
func (t *table) portableHasBatch(keys []filter.Key, out []bool) {
	var (
		blocks       [stride]*block
		fingerprints [stride]uint64
		first        [stride]uint64
	)
	for len(keys) > 0 {
		n := min(stride, len(keys))
		s := t.load()
		for i, k := range keys[:n] {
			x := t.mixer.mix(k)
			blocks[i], fingerprints[i] = t.lines.at(t.place(x, s.blocks())), t.fingerprint(x)
			if blocks[i] != nil {
				first[i] = atomic.LoadUint64(&blocks[i][0])
			}
		}
		for i := range n {
			out[i] = first[i] != 0 && blocks[i] != nil && blocks[i].portableHas(fingerprints[i], t.rounds)
		}
		if t.load() != s {
			t.askAgain(keys[:n], out[:n])
		}
		keys, out = keys[n:], out[n:]
	}
}

// askAgain asks for all keys that were answered with no.
func (t *table) askAgain(keys []filter.Key, out []bool) {
	for i, k := range keys {
		out[i] = out[i] || t.has(k)
	}
}
