package partition

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// AddBatch adds the keys in order.
func (f *Filter) AddBatch(keys []filter.Key) (done, added int, err error) {
	for i, k := range keys {
		isNew, err := f.Add(k)
		if err != nil {
			return i, added, err
		}
		if isNew {
			added++
		}
	}
	return len(keys), added, nil
}

// stride is how many keys of a batch are under way together: enough to keep the
// memory busy, few enough to stay in the first cache.
const stride = 16

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
// shorter than keys.
//
// The units of a whole stride are found first, and then their first positions are
// tested before any answer is looked at, so that cache misses overlap.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	var (
		units [stride][]uint64
		mixed [stride]uint64
		all   [stride]uint64
	)
	first := min(f.hashes, 4)
	for len(keys) > 0 {
		n := min(stride, len(keys))
		for i, k := range keys[:n] {
			units[i], mixed[i] = f.unitOf(k)
		}
		for i, words := range units[:n] {
			all[i] = 0
			if words != nil {
				all[i] = probe.First(words, f.bits, mixed[i], first)
			}
		}
		for i, words := range units[:n] {
			out[i] = all[i] != 0 && probe.Rest(words, f.bits, probe.StepBy(mixed[i], first), f.hashes-first)
		}
		keys, out = keys[n:], out[n:]
	}
}

// unitOf returns the unit that may have k, and where its positions begin.
func (f *Filter) unitOf(k filter.Key) (words []uint64, h uint64) {
	id := uint64(k) >> (f.shift & 63)
	if id > f.last {
		return nil, 0
	}
	r := f.tree.find(id)
	if r == none {
		return nil, 0
	}
	return f.units.at(r.unit()), f.hash(id)
}
