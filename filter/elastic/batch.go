package elastic

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// stride is how many keys of a batch are under way together: enough to keep the
// memory busy, few enough to stay in the first cache.
const stride = 16

// addStride is the same for keys that are added.
const addStride = 4

// AddBatch adds the keys in order, up to the first that finds no room. Other
// writers can get in between.
func (f *Filter) AddBatch(keys []filter.Key) (done, added int, err error) {
	var room [addStride][fewHashes]uint64
	var numbers [addStride][]uint64
	var locks [addStride]lockset
	for ; len(keys) > 0; keys = keys[min(addStride, len(keys)):] {
		for i, k := range keys[:min(addStride, len(keys))] {
			numbers[i] = f.numbersOf(k, room[i][:0])
			locks[i] = f.prepare(numbers[i])
		}
		for i := range min(addStride, len(keys)) {
			isNew, err := f.addWith(&locks[i], numbers[i])
			if err != nil {
				return done, added, err
			}
			done++
			if isNew {
				added++
			}
		}
	}
	return done, added, nil
}

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
// shorter than keys. All answers are from the same size of the filter.
//
// The first four bits of a whole stride are tested before any answer is looked at,
// so that their cache misses overlap.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	a := f.fast.Load()
	if f.hashes < 4 {
		for i, k := range keys {
			out[i] = a.rest(f.mixer.Mix(k), f.hashes)
		}
		return
	}
	var mixed, all [stride]uint64
	for len(keys) > 0 {
		n := min(stride, len(keys))
		for i, k := range keys[:n] {
			mixed[i] = f.mixer.Mix(k)
			all[i] = four(a.words, a.mask, mixed[i])
		}
		for i := range n {
			out[i] = all[i] != 0 && a.rest(probe.StepBy(mixed[i], 4), f.hashes-4)
		}
		keys, out = keys[n:], out[n:]
	}
}
