package slab

// pagesAtOnce is how many pages Compact moves at most: there is little to copy, so
// writers do not wait long.
const pagesAtOnce = 2

// IsFragmented reports whether so many pages are free that the memory behind the last
// one in use is worth having back: see [Store.Compact].
func (s *Store) IsFragmented() bool { return s.fragmented.Load() }

func (s *Store) isFragmented() bool { return s.pages.free.count > 16+s.pages.used/16 }

// Compact moves the last pages into free ones. The caller holds all blocks.
func (s *Store) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range pagesAtOnce {
		if s.isFragmented() {
			s.vacate(s.pages.used - 1)
		}
	}
	s.pages.release()
	s.fragmented.Store(s.isFragmented())
}

// vacate makes the last page unused.
func (s *Store) vacate(page uint64) {
	if s.pages.link(page).class() == 0 {
		s.pages.remove(&s.pages.free, page)
	} else {
		s.transfer(page)
	}
	s.pages.used--
}

// transfer moves a page and its runs to the place of a free one.
func (s *Store) transfer(page uint64) {
	to := s.pages.free.top - 1
	s.pages.remove(&s.pages.free, to)
	class := s.pages.link(page).class()
	c := &s.classes[class]
	places := perPage(class)
	if c.top == page+1 {
		places = c.fill
	}
	words, from, dest := uint64(runSizes[class]/8), page*pageWords, to*pageWords
	for range places {
		if place := s.bytes(from, class); owner(place) == noOwner {
			s.unlink(c, from)
			s.link(c, dest)
		} else {
			s.moveTo(dest, place, class)
		}
		from, dest = from+words, dest+words
	}
	s.pages.replace(&c.list, page, to)
}
