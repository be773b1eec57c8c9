package evergreen

// bits returns how much slow memory is in use: pages with their links, and a ref
// for each block. Free pages are not in it; there are few of them, see isLoose.
func (s *store) bits(blocks uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (s.pages.used-s.pages.free.count)*(8*pageBytes+64) + 64*blocks
}

// A census counts the runs of each class.
type census [classCount]uint64

// bits returns how much slow memory so many runs need where there are no holes.
func (c *census) bits(blocks uint64) uint64 {
	var pages uint64
	for class := 1; class < classCount; class++ {
		per := uint64(perPage(class))
		pages += (c[class] + per - 1) / per
	}
	return pages*(8*pageBytes+64) + 64*blocks
}

// replace gives a block the fingerprints of a list in place of those it had.
func (s *store) replace(block uint64, list []uint64) error {
	if err := s.resize(block, len(list)); err != nil {
		return err
	}
	if len(list) > 0 {
		s.fill(s.run(s.ref(block)), list)
	}
	return nil
}

// append moves the fingerprints of one block behind those of another, both of one
// stripe.
func (s *store) append(to, from uint64) error {
	n, source := s.ref(to).count(), s.ref(from)
	if source.count() == 0 {
		return nil
	}
	if err := s.resize(to, n+source.count()); err != nil {
		return err
	}
	run, old := s.run(s.ref(to)), s.run(s.ref(from))
	for i := range source.count() {
		s.add(run, n+i, s.get(old, i))
	}
	return s.resize(from, 0)
}

// resize sets the number of fingerprints of a block.
func (s *store) resize(block uint64, count int) error {
	r := s.ref(block)
	if s.classes[count] != s.classes[r.count()] {
		return s.move(block, count)
	}
	s.setRef(block, newRef(r.address(), count))
	return nil
}

// isLoose reports whether there are so many free pages that the memory behind the
// last one in use is worth having back.
func (s *store) isLoose() bool { return s.pages.free.count > 16+s.pages.used/16 }

// compact moves the last pages into free ones. The caller holds all stripes; there
// is little to copy at once, so nobody waits long.
func (s *store) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range stepsAtOnce {
		if s.isLoose() {
			s.vacate(s.pages.used - 1)
		}
	}
	s.pages.release()
	s.loose.Store(s.isLoose())
}

// vacate makes the last page unused.
func (s *store) vacate(page uint64) {
	if s.pages.link(page).class() == 0 {
		s.pages.remove(&s.pages.free, page)
	} else {
		s.transfer(page)
	}
	s.pages.used--
}

// transfer moves a page and its runs to the place of a free one.
func (s *store) transfer(page uint64) {
	to := s.pages.free.top - 1
	s.pages.remove(&s.pages.free, to)
	class := s.pages.link(page).class()
	shelf := &s.shelves[class]
	places := perPage(class)
	if shelf.top == page+1 {
		places = shelf.fill
	}
	words, from, dest := uint64(runSizes[class]/8), page*pageWords, to*pageWords
	for range places {
		s.transferRun(shelf, class, from, dest)
		from, dest = from+words, dest+words
	}
	s.pages.replace(&shelf.list, page, to)
}

// transferRun moves a run or a hole.
func (s *store) transferRun(shelf *shelf, class int, from, to uint64) {
	run := s.bytes(from, class)
	block := uint64(owner(run))
	if block == nobody {
		s.unlink(shelf, from)
		s.link(shelf, to)
		return
	}
	copy(s.bytes(to, class), run)
	s.setRef(block, newRef(to, s.ref(block).count()))
}
