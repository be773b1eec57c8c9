package deletable

import "github.com/everbloom-go/everbloom/filter"

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
// The first positions of a whole stride are tested before any answer is looked
// at, so that their cache misses overlap.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	var mixed, all [stride]uint64
	width := min(f.hashes, 4)
	for len(keys) > 0 {
		n := min(stride, len(keys))
		for i, k := range keys[:n] {
			mixed[i] = f.mixer.Mix(k)
			all[i] = f.some(mixed[i], width)
		}
		for i := range n {
			out[i] = all[i] != 0 && f.rest(filter.StepBy(mixed[i], width), f.hashes-width)
		}
		keys, out = keys[n:], out[n:]
	}
}

// some returns 1 if the positions of h and the following steps, 1 to 4 in all,
// are set.
func (f *Filter) some(h uint64, width int) uint64 {
	if width == 4 {
		return f.four(h)
	}
	all := f.one(h)
	for range width - 1 {
		h = filter.Step(h)
		all &= f.one(h)
	}
	return all
}
