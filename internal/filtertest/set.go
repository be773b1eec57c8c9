package filtertest

import (
	"iter"

	"github.com/everbloom-go/everbloom/filter"
)

// A Set is the exact reference that filters are compared with: keys and how
// often each was added. Its keys are numbered, so that a test can pick one. The
// zero Set is empty and ready to use.
type Set struct {
	index   map[filter.Key]int // where in entries
	entries []entry
	total   uint64
}

type entry struct {
	key   filter.Key
	count uint64
}

// Add adds k once and returns how often it is in the set now.
func (s *Set) Add(k filter.Key) (count uint64) { return s.addCount(k, 1) }

// addCount adds k n times, n > 0, and returns how often it is in the set now.
func (s *Set) addCount(k filter.Key, n uint64) (count uint64) {
	if s.index == nil {
		s.index = make(map[filter.Key]int)
	}
	i, ok := s.index[k]
	if !ok {
		i = len(s.entries)
		s.index[k] = i
		s.entries = append(s.entries, entry{key: k})
	}
	s.total += n
	s.entries[i].count += n
	return s.entries[i].count
}

// reserve makes room for n keys.
func (s *Set) reserve(n uint64) {
	s.index = make(map[filter.Key]int, n)
	s.entries = make([]entry, 0, n)
}

// Delete takes k out once. It reports whether k was in the set.
func (s *Set) Delete(k filter.Key) bool {
	i, ok := s.index[k]
	if !ok {
		return false
	}
	if s.entries[i].count == 1 {
		return s.Remove(k)
	}
	s.entries[i].count--
	s.total--
	return true
}

// Remove takes k out however often it was added. It reports whether k was in the
// set. The last key takes over its number.
func (s *Set) Remove(k filter.Key) bool {
	i, ok := s.index[k]
	if !ok {
		return false
	}
	s.total -= s.entries[i].count
	last := len(s.entries) - 1
	s.entries[i] = s.entries[last]
	s.index[s.entries[i].key] = i
	s.entries = s.entries[:last]
	delete(s.index, k)
	return true
}

// Has reports whether k is in the set.
func (s *Set) Has(k filter.Key) bool {
	_, ok := s.index[k]
	return ok
}

// Count returns how often k is in the set.
func (s *Set) Count(k filter.Key) uint64 {
	if i, ok := s.index[k]; ok {
		return s.entries[i].count
	}
	return 0
}

// Len returns the number of distinct keys.
func (s *Set) Len() int { return len(s.entries) }

// Total returns the number of keys, each as often as it was added.
func (s *Set) Total() uint64 { return s.total }

// At returns the i-th key, 0 <= i < Len. The order means nothing, and changes
// when keys are taken out.
func (s *Set) At(i int) filter.Key { return s.entries[i].key }

// All gives every key with its count. The set must not be changed meanwhile.
func (s *Set) All() iter.Seq2[filter.Key, uint64] {
	return func(yield func(filter.Key, uint64) bool) {
		for _, e := range s.entries {
			if !yield(e.key, e.count) {
				return
			}
		}
	}
}

// Keys returns a copy of the distinct keys.
func (s *Set) Keys() []filter.Key {
	keys := make([]filter.Key, 0, len(s.entries))
	for k := range s.All() {
		keys = append(keys, k)
	}
	return keys
}

// Union adds the keys of other, as often as they are in it.
func (s *Set) Union(other *Set) {
	for _, e := range other.entries[:len(other.entries):len(other.entries)] {
		s.addCount(e.key, e.count)
	}
}

// Intersect keeps the keys that are in both, as often as in the one that has
// fewer of them.
func (s *Set) Intersect(other *Set) {
	var both Set
	for k, count := range s.All() {
		if n := min(count, other.Count(k)); n > 0 {
			both.addCount(k, n)
		}
	}
	*s = both
}
