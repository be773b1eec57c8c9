package perennial

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// A prefix is the first n bits of keys; the others are 0.
type prefix struct {
	bits uint64
	n    uint
}

// A short is an entry of which fewer bits are left than its bucket has, less maxVoid, and
// which therefore is not in the ring.
type short struct {
	prefix
	count uint64
}

func compareShorts(a, b short) int {
	return cmp.Or(cmp.Compare(a.bits, b.bits), cmp.Compare(a.n, b.n))
}

// shorts are few: one key in 2^(w+2) when the filter has grown as far beyond that. They are
// never changed: a change makes others, and readers take what they find. nil is none.
type shorts struct {
	list    []short  // in order, all different
	lengths []uint   // of their prefixes, the longest first
	marks   []uint64 // a bit for the first bits of a key is set if a short may be its prefix
	shift   uint     // 64 less how many bits of a key these are
}

// marksPerShort is how many marks there are for one that is set, at least.
const marksPerShort = 16

func newShorts(list []short) *shorts {
	if len(list) == 0 {
		return nil
	}
	k := uint(max(6, bits.Len(uint(marksPerShort*len(list)-1))))
	s := &shorts{list: list, marks: make([]uint64, 1<<(k-6)), shift: 64 - k}
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
func (s *shorts) longest(z uint64) (i int, n uint) {
	if s == nil || s.marks[z>>s.shift>>6]>>(z>>s.shift&63)&1 == 0 {
		return 0, 0
	}
	for _, n := range s.lengths {
		e := short{prefix: prefix{z >> (64 - n) << (64 - n), n}}
		if i, found := slices.BinarySearchFunc(s.list, e, compareShorts); found {
			return i, n
		}
	}
	return 0, 0
}

// has reports whether there is a prefix of a key.
func (s *shorts) has(z uint64) bool {
	_, n := s.longest(z)
	return n > 0
}

// with returns the shorts and more. No count passes most.
func (s *shorts) with(more []short, most uint64) *shorts {
	if len(more) == 0 {
		return s
	}
	list := append(slices.Clone(s.all()), more...)
	slices.SortFunc(list, compareShorts)
	out := list[:0]
	for _, e := range list {
		if n := len(out); n > 0 && out[n-1].prefix == e.prefix {
			out[n-1].count = min(out[n-1].count+e.count, most)
		} else {
			out = append(out, e)
		}
	}
	return newShorts(out)
}

// without returns the shorts with one fewer like number i.
func (s *shorts) without(i int) *shorts {
	list := slices.Clone(s.list)
	if list[i].count--; list[i].count == 0 {
		list = slices.Delete(list, i, i+1)
	}
	return newShorts(list)
}

func (s *shorts) all() []short {
	if s == nil {
		return nil
	}
	return s.list
}

// rate returns which part of all keys has one of them as prefix.
func (s *shorts) rate() (sum float64) {
	for _, e := range s.all() {
		sum += math.Ldexp(float64(e.count), -int(e.n))
	}
	return sum
}

// bits returns how much memory they take.
func (s *shorts) bits() uint64 {
	if s == nil {
		return 0
	}
	return 64 * uint64(shortWords*len(s.list)+len(s.lengths)+len(s.marks))
}

// shortWords is how many words a short is stored as.
const shortWords = 3
