package partition

import "github.com/everbloom-go/everbloom/filter"

// A state is what a batch has decided about a key.
type state uint8

const (
	undecided state = iota
	present
	absent
	unsure // it was deleted once, and may be there more often
)

// An overlay holds the states of the keys of a batch. Clearing it takes no time.
type overlay struct {
	slots      []overlaySlot // a power of two
	used       int
	generation uint32
}

type overlaySlot struct {
	entry      uint64
	key        filter.Key
	generation uint32
	state      state
}

const firstOverlay = 1 << 10

// find returns the slot of a key, or the free one where it would be.
func (o *overlay) find(entry uint64, k filter.Key) *overlaySlot {
	mask := uint64(len(o.slots) - 1)
	for i := (uint64(k) ^ entry*0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9 >> 20; ; i++ {
		s := &o.slots[i&mask]
		if s.generation != o.generation || s.entry == entry && s.key == k {
			return s
		}
	}
}

func (o *overlay) get(entry uint64, k filter.Key) state {
	if o.used == 0 {
		return undecided
	}
	if s := o.find(entry, k); s.generation == o.generation {
		return s.state
	}
	return undecided
}

func (o *overlay) set(entry uint64, k filter.Key, st state) {
	s, _ := o.slot(entry, k)
	o.fill(s, entry, k, st)
}

// slot returns the slot of a key, to be filled before the overlay changes in any other way,
// and its state.
func (o *overlay) slot(entry uint64, k filter.Key) (*overlaySlot, state) {
	if 2*o.used >= len(o.slots) {
		o.grow()
	}
	s := o.find(entry, k)
	if s.generation != o.generation {
		return s, undecided
	}
	return s, s.state
}

// fill sets the state of the key of a slot.
func (o *overlay) fill(s *overlaySlot, entry uint64, k filter.Key, st state) {
	if s.generation != o.generation {
		o.used++
	}
	*s = overlaySlot{entry, k, o.generation, st}
}

func (o *overlay) grow() {
	old := o.slots
	o.slots = make([]overlaySlot, max(firstOverlay, 2*len(old)))
	if o.generation == 0 {
		o.generation = 1
	}
	for _, s := range old {
		if s.generation == o.generation {
			*o.find(s.entry, s.key) = s
		}
	}
}

// clear forgets everything, and memory that a large batch needed.
func (o *overlay) clear() {
	o.used = 0
	o.generation++
	if len(o.slots) > 64*firstOverlay || o.generation == 0 {
		o.slots, o.generation = nil, 1
	}
}
