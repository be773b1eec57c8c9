package dleft

import "github.com/everbloom-go/everbloom/filter"

// stride is how many keys of a batch are under way together: enough to keep the
// memory busy, few enough to stay in the first cache.
const stride = 16

// AddBatch adds the keys in order, up to the first that finds no room.
func (f *Filter) AddBatch(keys []filter.Key) (done, added int, err error) {
	var prints [stride]uint64
	for len(keys) > 0 {
		n := min(stride, len(keys))
		f.touch(keys[:n], &prints)
		for _, fp := range prints[:n] {
			isNew, err := f.add(fp)
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

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
// shorter than keys.
//
// Where a bucket is two words the processor runs ahead over several keys by
// itself; otherwise the buckets of a whole stride are touched first.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	if f.short {
		for i, k := range keys {
			out[i] = f.mayContainShort(k)
		}
		return
	}
	var prints [stride]uint64
	for len(keys) > 0 {
		n := min(stride, len(keys))
		f.touch(keys[:n], &prints)
		for i, fp := range prints[:n] {
			out[i] = f.has(fp)
		}
		keys, out = keys[n:], out[n:]
	}
}

// keep has a use for a value, so that reading it is not optimised away.
//
//go:noinline
func keep(uint64) {}
