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
	for len(keys) > 0 {
		n := min(stride, len(keys))
		for i, k := range keys[:n] {
			units[i], mixed[i] = f.unitOf(k)
		}
		for i := range n {
			all[i] = f.some(units[i], mixed[i])
		}
		for i := range n {
			out[i] = all[i] != 0 && f.rest(units[i], mixed[i])
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

// some returns 1 if the first positions, four if there are as many, are set.
func (f *Filter) some(words []uint64, h uint64) uint64 {
	switch {
	case words == nil:
		return 0
	case f.hashes < 4:
		return one(words, h, f.bits)
	}
	m := f.bits
	return one(words, h, m) & one(words, probe.Step(h), m) & one(words, probe.StepBy(h, 2), m) & one(words, probe.StepBy(h, 3), m)
}

// rest reports whether the positions after those of some are set.
func (f *Filter) rest(words []uint64, h uint64) bool {
	done := 4
	if f.hashes < 4 {
		done = 1
	}
	h = probe.StepBy(h, done)
	for range f.hashes - done {
		if one(words, h, f.bits) == 0 {
			return false
		}
		h = probe.Step(h)
	}
	return true
}
