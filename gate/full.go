package gate

import "github.com/everbloom-go/everbloom/filter"

// replace removes an entry for the sake of another, and counts what is lost. A flow that
// has been idle for long has ended, most likely, and is not counted.
func (s *states) replace(p place) {
	switch t := *s.tag(p); {
	case s.cell(p).strikes() > 0:
		s.struck++
	case t&flowTag == 0 || s.since(t) < idle:
		s.evicted++
	}
	s.remove(p)
}

// An age is over when an eighth as many entries have come as there is room for. A flow
// that was idle for four has ended, most likely, and strikes as old may be replaced.
const (
	ageShare = 8
	idle     = 4
)

// since returns how many ages ago an entry was changed.
func (s *states) since(t tag) tag { return (s.age - t.age()) % ages }

// victim returns the entry on the path of a key that is worth least: chains before
// strikes, strikes of origins that have more than their share before others, old ones
// before new ones. Only strikes may replace strikes, and only those of an origin within
// its share replace those of others, if these are old.
func (s *states) victim(k filter.Key, c cell, t tag) place {
	limit := tag(worthOver)
	switch {
	case c.strikes() > 0 && !s.overShare(t):
		limit = worthWithin + ages - idle
	case c.strikes() > 0:
		limit = worthWithin
	}
	best := nowhere
	b := s.home(k)
	for range s.pathLength() {
		for i := range bucketUsers {
			if p := (place{b, i}); s.worth(p) < limit {
				best, limit = p, s.worth(p)
			}
		}
		b = s.after(b)
	}
	return best
}

// What strikes are worth, of an origin that has more than its share and of others. Chains
// are worth less.
const (
	worthOver   = ages
	worthWithin = 2 * ages
)

func (s *states) worth(p place) tag {
	t := *s.tag(p)
	worth := ages - 1 - s.since(t)
	switch {
	case s.cell(p).strikes() == 0:
		return worth
	case s.overShare(t):
		return worth + worthOver
	}
	return worth + worthWithin
}

// overShare reports whether an origin has more than its share.
func (s *states) overShare(t tag) bool {
	return s.origins[t.origin()] > uint32(s.room()/originShare)
}

// grow doubles the table, if it may and there is memory.
func (s *states) grow() bool {
	if s.fixed {
		return false
	}
	old := *s
	if s.allocate(2*uint64(len(old.buckets))) != nil {
		*s = old
		s.fixed = true
		return false
	}
	s.count = 0
	for b := range old.buckets {
		at := &old.buckets[b]
		for i, c := range at.cells {
			if c == 0 {
				continue
			}
			p := s.vacancy(at.keys[i]) // the table is less than half full
			s.put(p, at.keys[i], c, *old.tag(place{b, i}))
			copy(s.timesOf(p), old.timesOf(place{b, i}))
		}
	}
	return true
}
