package counting

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// stride is how many keys of a batch are under way together: enough to keep the
// memory busy, few enough to stay in the first cache.
const stride = 16

// AddBatch adds the keys in order. It never fails.
func (f *Filter) AddBatch(keys []filter.Key) (done, added int, err error) {
	for _, k := range keys {
		if isNew, _ := f.Add(k); isNew {
			added++
		}
	}
	return len(keys), added, nil
}

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
// shorter than keys.
//
// The first four positions of a whole stride are tested before any answer is
// looked at, so that their cache misses overlap.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	if f.hashes < 4 {
		for i, k := range keys {
			out[i] = f.MayContain(k)
		}
		return
	}
	var mixed [stride]uint64
	var first [stride]int64
	for len(keys) > 0 {
		n := min(stride, len(keys))
		for i, k := range keys[:n] {
			mixed[i] = f.mixer.Mix(k)
			first[i] = f.four(mixed[i])
		}
		for i := range n {
			out[i] = first[i] >= 0 && f.rest(probe.StepBy(mixed[i], 4), f.hashes-4) >= 0
		}
		keys, out = keys[n:], out[n:]
	}
}
