package gate

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// keyset is an exact set of keys in a table of fixed size: linear probing, and deletes
// that close the gap, so there are no marks of deleted keys.
type keyset struct {
	slots []filter.Key // 0 is free
	count int
	most  int
	grows bool // beyond most
}

// newKeyset returns a set for so many keys, which it fills to three quarters.
func newKeyset(keys uint64) (*keyset, error) {
	slots, err := table[filter.Key](keysetBytes(keys) / 8)
	return &keyset{slots: slots, most: int(keys)}, err
}

// keysetBytes returns the memory of a set for so many keys.
func keysetBytes(keys uint64) uint64 { return 8 * (keys + keys/3 + 1) }

// keysIn returns how many keys a set of so many bytes is for.
func keysIn(bytes uint64) uint64 {
	keys := bytes / 8 * 3 / 4
	for keys > 0 && keysetBytes(keys) > bytes {
		keys--
	}
	return keys
}

// stored returns k, or 1 for the key that marks free slots: two keys of 2^64 are one.
func stored(k filter.Key) filter.Key {
	if k == 0 {
		return 1
	}
	return k
}

func (s *keyset) home(k filter.Key) int {
	return int(probe.Reduce(uint64(k), uint64(len(s.slots))))
}

// find returns the slot of a stored key, or the free one where it belongs.
func (s *keyset) find(k filter.Key) int {
	i := s.home(k)
	for s.slots[i] != 0 && s.slots[i] != k {
		i = s.after(i)
	}
	return i
}

func (s *keyset) after(i int) int {
	if i++; i == len(s.slots) {
		return 0
	}
	return i
}

// Contains reports whether k is in the set.
func (s *keyset) Contains(k filter.Key) bool {
	return s.count > 0 && s.slots[s.find(stored(k))] != 0
}

// add reports whether k is in the set afterwards; it is not if there was no room.
func (s *keyset) add(k filter.Key) bool {
	k = stored(k)
	i := s.find(k)
	if s.slots[i] == k {
		return true
	}
	if s.count == s.most {
		if !s.grow() {
			return false
		}
		i = s.find(k)
	}
	s.slots[i] = k
	s.count++
	return true
}

// replaceAny puts k in place of a key that comes next in the table from hand, and returns
// where to look from the next time. The set must have a key.
func (s *keyset) replaceAny(k filter.Key, hand int) int {
	hand %= len(s.slots)
	for s.slots[hand] == 0 {
		hand = s.after(hand)
	}
	s.remove(s.slots[hand])
	s.add(k)
	return s.after(hand)
}

// grow doubles the table, if it may and there is memory.
func (s *keyset) grow() bool {
	if !s.grows {
		return false
	}
	return s.resize(2 * uint64(max(1, s.most)))
}

// resize makes the table one for so many keys, if there is memory. It has no more.
func (s *keyset) resize(keys uint64) bool {
	larger, err := newKeyset(keys)
	if err != nil {
		return false
	}
	for _, k := range s.slots {
		if k != 0 {
			larger.slots[larger.find(k)] = k
		}
	}
	s.slots, s.most = larger.slots, larger.most
	return true
}

// remove deletes k, if it is there, and moves back the keys that it had displaced.
func (s *keyset) remove(k filter.Key) {
	gap := s.find(stored(k))
	if s.slots[gap] == 0 {
		return
	}
	s.count--
	for i := s.after(gap); s.slots[i] != 0; i = s.after(i) {
		if s.mayMove(i, gap) {
			s.slots[gap] = s.slots[i]
			gap = i
		}
	}
	s.slots[gap] = 0
}

// mayMove reports whether the key at i is still found when it is moved back to gap:
// its home is not between the two.
func (s *keyset) mayMove(i, gap int) bool {
	home := s.home(s.slots[i])
	if gap <= i {
		return home <= gap || home > i
	}
	return home <= gap && home > i
}
