package perennial

import "github.com/everbloom-go/everbloom/filter"

// stride is how many keys of a batch are under way together: enough to keep the memory
// busy, few enough to stay in the first cache.
const stride = 16

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is shorter than
// keys.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	r := f.ring.Load()
	for len(keys) > 0 {
		n := min(stride, len(keys))
		r.touch(keys[:n])
		for i, k := range keys[:n] {
			out[i] = r.mayContain(k)
		}
		keys, out = keys[n:], out[n:]
	}
}

// AddBatch adds the keys in order.
func (f *Filter) AddBatch(keys []filter.Key) (done, added int, err error) {
	r := f.ring.Load()
	for i, k := range keys {
		if i%stride == 0 {
			r.touch(keys[i:min(i+stride, len(keys))])
		}
		isNew, err := r.add(k)
		if err != nil {
			return done, added, err
		}
		done++
		if isNew {
			added++
		}
	}
	return done, added, nil
}

// PrefetchAdd brings the lines of the keys into the cache.
func (f *Filter) PrefetchAdd(keys []filter.Key) { f.ring.Load().touch(keys) }

// PrefetchDelete brings the lines of the keys into the cache.
func (f *Filter) PrefetchDelete(keys []filter.Key) { f.ring.Load().touch(keys) }

// touch reads a word of each key's line. These loads do not wait for each other, as those of
// queries would.
func (r *ring) touch(keys []filter.Key) {
	y := unpack(r.state.Load())
	var sum uint64
	for _, k := range keys {
		if l := r.lineOf(y.locate(r.mixer.Mix(k), r.w).index()); l != nil {
			sum += l.word(0)
		}
	}
	if sum == 1 { // never: each line has several buckets
		panic("perennial: a line without buckets")
	}
}
