package probe

import "github.com/everbloom-go/everbloom/filter"

// stride is how many keys of a batch are under way together: enough to keep the
// memory busy, few enough to stay in the first cache.
const stride = 16

// Batch answers in out[i] whether [All] holds for the hash that m makes of keys[i]. It
// panics if out is shorter than keys.
//
// The first positions of a whole stride are tested before any answer is looked
// at, so that their cache misses overlap.
func Batch(words []uint64, size uint64, m Mixer, hashes int, keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	var mixed, all [stride]uint64
	first := min(hashes, 4)
	for len(keys) > 0 {
		n := min(stride, len(keys))
		for i, k := range keys[:n] {
			mixed[i] = m.Mix(k)
			all[i] = First(words, size, mixed[i], first)
		}
		for i := range n {
			out[i] = all[i] != 0 && Rest(words, size, StepBy(mixed[i], first), hashes-first)
		}
		keys, out = keys[n:], out[n:]
	}
}
