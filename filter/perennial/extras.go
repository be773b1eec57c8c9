package perennial

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A prefix is the first n bits of keys, maxPrefix at most where it is stored; the others are 0.
type prefix struct {
	bits uint64
	n    uint
}

const maxPrefix = 63

// An extra is an entry that is not in the ring: fewer bits of it are left than its bucket
// has, less maxVoid, or its bucket is as large as a line.
type extra struct {
	prefix
	count uint64
}

func compareExtras(a, b extra) int {
	return cmp.Or(cmp.Compare(a.bits, b.bits), cmp.Compare(a.n, b.n))
}

// extras are few: one key in 2^(w+2) once the filter has grown by more than that, and hardly
// any for want of room. They are never changed: a change makes others, and readers take what
// they find. nil is none.
type extras struct {
	list    []extra  // in order, all different
	lengths []uint   // of their prefixes, the longest first
	marks   []uint64 // a bit for the first bits of a key is set if an extra may be its prefix
	shift   uint     // 64 less how many bits of a key these are
}

// marksPerExtra is how many marks there are for one that is set, at least.
const marksPerExtra = 128

func newExtras(list []extra) *extras {
	if len(list) == 0 {
		return nil
	}
	k := uint(max(6, bits.Len(uint(marksPerExtra*len(list)-1))))
	s := &extras{list: list, marks: make([]uint64, 1<<(k-6)), shift: 64 - k}
	for _, e := range list {
		if !slices.Contains(s.lengths, e.n) {
			s.lengths = append(s.lengths, e.n)
		}
		first := e.bits >> s.shift
		for i := range max(1, uint64(1)<<k>>e.n) {
			s.marks[(first+i)>>6] |= 1 << ((first + i) & 63)
		}
	}
	slices.SortFunc(s.lengths, func(a, b uint) int { return cmp.Compare(b, a) })
	return s
}

// longest returns the place and the length of the longest prefix of a key, or 0 for the
// length if there is none.
func (s *extras) longest(z uint64) (i int, n uint) {
	if s == nil || s.marks[z>>s.shift>>6]>>(z>>s.shift&63)&1 == 0 {
		return 0, 0
	}
	for _, n := range s.lengths {
		e := extra{prefix: prefix{z >> (64 - n) << (64 - n), n}}
		if i, found := slices.BinarySearchFunc(s.list, e, compareExtras); found {
			return i, n
		}
	}
	return 0, 0
}

// has reports whether there is a prefix of a key.
func (s *extras) has(z uint64) bool {
	_, n := s.longest(z)
	return n > 0
}

// with returns the extras and more. No count passes most.
func (s *extras) with(more []extra, most uint64) *extras {
	if len(more) == 0 {
		return s
	}
	list := append(slices.Clone(s.all()), more...)
	slices.SortFunc(list, compareExtras)
	out := list[:0]
	for _, e := range list {
		if n := len(out); n > 0 && out[n-1].prefix == e.prefix {
			out[n-1].count = min(out[n-1].count+e.count, most)
		} else {
			out = append(out, e)
		}
	}
	return newExtras(slices.Clip(out))
}

// without returns the extras with one fewer like number i.
func (s *extras) without(i int) *extras {
	list := slices.Clone(s.list)
	if list[i].count--; list[i].count == 0 {
		list = slices.Delete(list, i, i+1)
	}
	return newExtras(list)
}

// within returns those that are voids of the largest depth in the group of a level whose keys
// begin with the given bits.
func (s *extras) within(group uint64, level uint) []extra {
	if s == nil {
		return nil
	}
	n := level + bucketLog - maxVoid
	low := extra{prefix: prefix{bits: group << (64 - level)}}
	first, _ := slices.BinarySearchFunc(s.list, low, compareExtras)
	var out []extra
	for _, e := range s.list[first:] {
		if e.bits>>(64-level) != group {
			break
		}
		if e.n == n {
			out = append(out, e)
		}
	}
	return out
}

// less returns the extras without some of them.
func (s *extras) less(some []extra) *extras {
	list := make([]extra, 0, len(s.list)-len(some))
	for _, e := range s.list {
		if !slices.Contains(some, e) {
			list = append(list, e)
		}
	}
	return newExtras(list)
}

func (s *extras) all() []extra {
	if s == nil {
		return nil
	}
	return s.list
}

// rate returns which part of all keys has one of them as prefix.
func (s *extras) rate() (sum float64) {
	for _, e := range s.all() {
		sum += math.Ldexp(1, -int(e.n))
	}
	return sum
}

// bits returns how much memory they take.
func (s *extras) bits() uint64 {
	if s == nil {
		return 0
	}
	return 64 * uint64(extraWords*len(s.list)+len(s.lengths)+len(s.marks))
}

// extraWords is how many words an extra is stored as.
const extraWords = 3

// addExtra makes an entry for which the ring has no room an extra. It reports false if there
// are so many of these that the keys must have been chosen for it.
func (r *ring) addExtra(x prefix, count uint64) bool {
	all := r.extras.Load()
	large := uint64(0)
	for _, e := range all.all() {
		if !r.tooShort(e.prefix) {
			large++
		}
	}
	if large >= maxLarge+r.keys>>16 {
		return false
	}
	if x.n > maxPrefix {
		x = prefix{x.bits >> (64 - maxPrefix) << (64 - maxPrefix), maxPrefix}
	}
	r.extras.Store(all.with([]extra{{x, count}}, r.maxCount()))
	return true
}

// maxLarge is how many entries may be extras for want of room in a small ring.
const maxLarge = 64
