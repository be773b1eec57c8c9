package evergreen

import (
	"sync/atomic"
	"unsafe"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/line"
)

// stride is how many keys of a batch are under way together: enough to keep the
// memory busy, few enough to stay in the first cache.
const stride = 16

// portableHas looks at the block that was the key's when it looked at the state. If
// the key looks absent and the state has moved, the key may have moved, too.
func (t *table) portableHas(k filter.Key) bool {
	mixed := t.mixer.mix(k)
	fp := t.fingerprint(mixed)
	for {
		s := t.load()
		if b := t.lines.at(place(mixed, s.blocks())); b != nil && b.Has(fp, t.rounds) {
			return true
		}
		if t.load() == s {
			return false
		}
	}
}

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
// when all are answered, the absent ones are asked again.
func (t *table) portableHasBatch(keys []filter.Key, out []bool) {
	var (
		blocks       [stride]*line.Block
		fingerprints [stride]uint64
		first        [stride]uint64
	)
	for len(keys) > 0 {
		n := min(stride, len(keys))
		s := t.load()
		for i, k := range keys[:n] {
			mixed := t.mixer.mix(k)
			blocks[i], fingerprints[i] = t.lines.at(place(mixed, s.blocks())), t.fingerprint(mixed)
			if blocks[i] != nil {
				first[i] = atomic.LoadUint64(&blocks[i][0])
			}
		}
		for i := range n {
			out[i] = first[i] != 0 && blocks[i] != nil && blocks[i].Has(fingerprints[i], t.rounds)
		}
		if t.load() != s {
			t.askAgain(keys[:n], out[:n])
		}
		keys, out = keys[n:], out[n:]
	}
}

// askAgain asks for all keys that were answered as absent.
func (t *table) askAgain(keys []filter.Key, out []bool) {
	for i, k := range keys {
		out[i] = out[i] || t.has(k)
	}
}

// What follows asks for memory that will be needed soon, so that cache misses overlap.
// It changes nothing.

// prefetchAdd asks for the blocks of keys that will be added. Filters that are large
// enough for it to pay have inboxes, and so need nothing else soon.
func (t *table) prefetchAdd(keys []filter.Key) {
	if t.load().blocks() < prefetchFrom {
		return
	}
	for _, k := range keys {
		t.prefetchBlock(t.mixer.mix(k))
	}
}

// prefetchDelete asks for all that deleting the first 16 keys will need: first for
// the blocks and the refs, then for the runs.
func (t *table) prefetchDelete(keys []filter.Key) {
	keys = keys[:min(stride, len(keys))]
	n := t.load().blocks()
	if n < prefetchFrom || t.file != nil { // which could be closed meanwhile
		return
	}
	var refs [stride]*uint64
	for i, k := range keys {
		block := place(t.mixer.mix(k), n)
		t.lines.prefetch(block)
		if refs[i] = t.store.RefAddress(block); refs[i] != nil {
			line.Prefetch(unsafe.Pointer(refs[i]))
		}
	}
	for _, p := range refs[:len(keys)] {
		t.store.PrefetchAt(p)
	}
}

// prefetchKey asks for what deleting a mixed key will need.
func (t *table) prefetchKey(mixed uint64) {
	n := t.load().blocks()
	if n < prefetchFrom || t.file != nil {
		return
	}
	t.prefetchBlock(mixed)
	t.store.PrefetchAt(t.store.RefAddress(place(mixed, n)))
}
