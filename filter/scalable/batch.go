package scalable

import "github.com/everbloom-go/everbloom/filter"

// stride is how many keys of a batch are under way together: enough for a unit to
// read ahead, few enough to stay in the first cache.
const stride = 128

// largeWords is from which size on a unit is asked about many keys at once, a
// megabyte: smaller ones are in the second cache anyway.
const largeWords = 1 << 20 / 8

// A sieve holds those keys of a stride that no unit has answered for yet.
type sieve struct {
	keys [stride]filter.Key
	at   [stride]uint8 // where in the stride each was
	yes  [stride]bool
	left int
}

// sift begins with new keys, at most a stride, and takes out those that a unit
// answers for: the large ones, which are the newest, are asked about all keys
// together, the small ones about key after key.
func (s *sieve) sift(keys []filter.Key, units []unit) {
	s.left = copy(s.keys[:], keys)
	for i := range s.left {
		s.at[i] = uint8(i)
	}
	small := len(units)
	for ; small > 0 && len(units[small-1].Words()) >= largeWords; small-- {
		units[small-1].MayContainBatch(s.keys[:s.left], s.yes[:])
		s.keep()
	}
	for i, k := range s.keys[:s.left] {
		s.yes[i] = has(units[:small], k)
	}
	s.keep()
}

// keep takes out the keys that were answered with yes.
func (s *sieve) keep() {
	n := 0
	for i, yes := range s.yes[:s.left] {
		s.keys[n], s.at[n] = s.keys[i], s.at[i]
		if !yes {
			n++
		}
	}
	s.left = n
}

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
// shorter than keys.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	var s sieve
	units := *f.read.Load()
	for len(keys) > 0 {
		n := min(stride, len(keys))
		s.sift(keys[:n], units)
		for i := range n {
			out[i] = true
		}
		for _, at := range s.at[:s.left] {
			out[at] = false
		}
		keys, out = keys[n:], out[n:]
	}
}

// AddBatch adds the keys in order, up to the first for which there is no unit.
//
// As many keys as the active unit surely takes are sifted by the older units, and
// what is left is added at once. The active unit itself tells which of these it did
// not have.
func (f *Filter) AddBatch(keys []filter.Key) (done, added int, err error) {
	var s sieve
	for done < len(keys) {
		u := f.active()
		n := int(min(stride, u.capacity-u.keys, uint64(len(keys)-done)))
		if n == 0 { // it is full: the next new key brings another
			isNew, err := f.Add(keys[done])
			if err != nil {
				return done, added, err
			}
			if isNew {
				added++
			}
			done++
			continue
		}
		s.sift(keys[done:done+n], f.units[:len(f.units)-1])
		_, fresh, _ := u.AddBatch(s.keys[:s.left]) // never refuses
		u.keys += uint64(fresh)
		done, added = done+n, added+fresh
	}
	return done, added, nil
}
