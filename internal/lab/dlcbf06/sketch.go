package dlcbf06

import (
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
)

// A place is where a key may go in one subarray, and what is kept of it there.
type place struct {
	bucket    int
	remainder uint16
}

// A locator gives the places of a key, one in each subarray.
type locator func(k filter.Key) [4]place

// independent is the direct construction: four buckets and one remainder, all from
// different bits of the key.
func independent(*rand.Rand) locator {
	return func(k filter.Key) (at [4]place) {
		for i := range at {
			at[i] = place{int(k >> (11 * i) % 2048), uint16(k >> 50)}
		}
		return at
	}
}

// permuted multiplies a fingerprint of 25 bits by odd numbers; low says whether
// the low bits are the bucket.
func permuted(low bool) func(*rand.Rand) locator {
	return func(r *rand.Rand) locator {
		var factors [4]uint64
		for i := range factors {
			factors[i] = r.Uint64() | 1
		}
		return func(k filter.Key) (at [4]place) {
			for i, a := range factors {
				x := a * uint64(k) % fingerprints
				at[i] = place{int(x >> 14), uint16(x % (1 << 14))}
				if low {
					at[i] = place{int(x % 2048), uint16(x >> 11)}
				}
			}
			return at
		}
	}
}

// A sketch is a d-left table with any way to find places: cell by cell, since it
// is there to count, not to be fast.
type sketch struct {
	cells   [4][2048][8]struct{ remainder, copies uint16 }
	locate  locator
	unclear int // deletes that found several copies
	denied  int // deletes that found none
	full    int // keys that found no room and were dropped
}

// find returns the copies of a key.
func (s *sketch) find(k filter.Key) (copies []*uint16) {
	for i, at := range s.locate(k) {
		for c := range s.cells[i][at.bucket] {
			if cell := &s.cells[i][at.bucket][c]; cell.copies > 0 && cell.remainder == at.remainder {
				copies = append(copies, &cell.copies)
			}
		}
	}
	return copies
}

// add raises a copy that is there, or uses a cell of the least loaded bucket, the
// leftmost of several.
func (s *sketch) add(k filter.Key) bool {
	if copies := s.find(k); len(copies) > 0 {
		*copies[0]++
		return true
	}
	best, least := -1, 8
	at := s.locate(k)
	for i := range at {
		load := 0
		for _, cell := range s.cells[i][at[i].bucket] {
			load += min(1, int(cell.copies))
		}
		if load < least {
			best, least = i, load
		}
	}
	if best < 0 {
		s.full++
		return false
	}
	bucket := &s.cells[best][at[best].bucket]
	for c := range bucket {
		if bucket[c].copies == 0 {
			bucket[c].remainder, bucket[c].copies = at[best].remainder, 1
			break
		}
	}
	return true
}

// remove lowers the first copy it finds: there is no better choice.
func (s *sketch) remove(k filter.Key) {
	copies := s.find(k)
	switch {
	case len(copies) == 0:
		s.denied++
		return
	case len(copies) > 1:
		s.unclear++
	}
	*copies[0]--
}

// run is a trial of Sec. 5.1. Keys that find no room are not in the set.
func (s *sketch) run(n, steps int, r *rand.Rand) {
	var keys []filter.Key
	insert := func() {
		if k := filter.Key(r.Uint64()); s.add(k) {
			keys = append(keys, k)
		}
	}
	for range n {
		insert()
	}
	for range steps {
		i := r.IntN(len(keys))
		s.remove(keys[i])
		keys[i] = keys[len(keys)-1]
		keys = keys[:len(keys)-1]
		insert()
	}
}
