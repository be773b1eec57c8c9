package partition

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// units are the Bloom filters of the tree's leaves, numbered from 0 without gaps.
// They lie in slabs of 2^shift units, large enough for huge pages, and for package mem
// to ask whether the machine has so much. Only the last slab grows, in steps of an
// eighth of all, and is copied then, so that neither much memory is unused nor much
// is ever moved.
type units struct {
	slabs  [][]uint64
	stride int  // words of a unit
	shift  uint // units of a slab, as a power of two
	n      int  // units in use; those behind them are zero
	ahead  bool // many more will be taken: make room for twice as many
	from   mem.Heap
}

const (
	// slabWords is the least that a whole slab has, 64 MiB, and half of the most.
	slabWords = 1 << 23

	// maxNodes is how many units and inner nodes a ref can number.
	maxNodes = 1<<31 - 1
)

func newUnits(stride int) units {
	u := units{stride: stride}
	for stride<<u.shift < slabWords {
		u.shift++
	}
	return u
}

// at returns the words of unit i.
func (u *units) at(i int) []uint64 {
	slab := u.slabs[i>>(u.shift&63)]
	from := (i & (1<<(u.shift&63) - 1)) * u.stride
	return slab[from : from+u.stride : from+u.stride]
}

// take returns the number of one more unit, all of whose bits are clear.
func (u *units) take() (int, error) {
	if u.n == maxNodes {
		return 0, errNodes
	}
	if slab := u.n >> u.shift; slab == len(u.slabs) {
		u.slabs = append(u.slabs, nil)
	}
	want := u.wordsOfLast(u.n + 1)
	last := &u.slabs[len(u.slabs)-1]
	if want > len(*last) {
		if u.ahead {
			want = max(want, min(2*len(*last), u.stride<<u.shift))
		}
		if err := u.resize(last, want); err != nil {
			return 0, err
		}
	}
	u.n++
	return u.n - 1, nil
}

// trim ends the time of being ahead.
func (u *units) trim() error {
	u.ahead = false
	if u.n == 0 {
		u.slabs = nil
		return nil
	}
	last := &u.slabs[len(u.slabs)-1]
	if want := u.wordsOfLast(u.n); want < len(*last) {
		return u.resize(last, want)
	}
	return nil
}

// resize gives a slab another length.
func (u *units) resize(slab *[]uint64, n int) error {
	words, err := u.from.Words(uint64(n))
	if err != nil {
		return fmt.Errorf("partition: %w: %w", filter.ErrStorage, err)
	}
	copy(words, *slab)
	*slab = words
	return nil
}

// errNodes is for filters far beyond the memory of today's machines.
var errNodes = fmt.Errorf("partition: %d nodes, there can be no more: %w", maxNodes, filter.ErrStorage)

// A checkpoint is a state of units that one can go back to.
type checkpoint struct {
	n, slabs int
	last     []uint64
}

func (u *units) checkpoint() checkpoint {
	c := checkpoint{n: u.n, slabs: len(u.slabs)}
	if c.slabs > 0 {
		c.last = u.slabs[c.slabs-1]
	}
	return c
}

// back gives back the units that were taken since, and the memory for them. Some of
// them may lie in the slab that was the last one then, whether that has grown since or
// not: they are cleared there.
func (u *units) back(c checkpoint) {
	clear(u.slabs[c.slabs:])
	u.slabs, u.n = u.slabs[:c.slabs], c.n
	if c.slabs > 0 {
		u.slabs[c.slabs-1] = c.last
		clear(c.last[(c.n-(c.slabs-1)<<u.shift)*u.stride:])
	}
}

// words returns how many words n units take.
func (u *units) words(n int) uint64 {
	whole := multiple(n, 1<<u.shift)
	return uint64(min(whole, roundUp(n))) * uint64(u.stride)
}

// wordsOfLast returns how many words the last slab has if there are n units, n > 0.
func (u *units) wordsOfLast(n int) int {
	return int(u.words(n)) - (n-1)>>u.shift<<u.shift*u.stride
}

// A marker knows which bits of a unit an id has.
type marker struct {
	mixer  probe.Mixer
	bits   uint64 // m, of a unit
	hashes int    // k
}

// hash returns where the positions of id begin. It mixes twice: neighbours in a
// universe of ids would otherwise be spread too evenly, and set more bits than
// chance allows.
func (m *marker) hash(id uint64) uint64 {
	return m.mixer.Mix(filter.Key(m.mixer.Mix(filter.Key(id))))
}

// mark sets the bits of id in a unit and returns how many were clear.
func (m *marker) mark(words []uint64, id uint64) int {
	h := m.hash(id)
	var fresh uint64
	for range m.hashes {
		i := probe.Reduce(h, m.bits)
		w := &words[i/64]
		fresh += ^*w >> (i % 64) & 1
		*w |= 1 << (i % 64)
		h = probe.Step(h)
	}
	return int(fresh)
}
