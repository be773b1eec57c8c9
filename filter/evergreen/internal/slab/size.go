package slab

import "fmt"

// Bits returns how much memory is in use: pages with their links, and a ref for each
// block. Free pages are not in it; there are few of them, see [Store.IsFragmented].
func (s *Store) Bits(blocks uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (s.pages.used-s.pages.free.count)*pageBits + 64*blocks
}

// RunCounts counts runs by their classes.
type RunCounts [classCount]uint64

// Add counts the run of so many fingerprints.
func (n *RunCounts) Add(g *Geometry, fingerprints int) { n[g.class[fingerprints]]++ }

// Bits returns how much memory so many runs of so many blocks need where no places are
// free.
func (n *RunCounts) Bits(blocks uint64) uint64 {
	var pages uint64
	for class := 1; class < classCount; class++ {
		per := uint64(perPage(class))
		pages += (n[class] + per - 1) / per
	}
	return pages*pageBits + 64*blocks
}

// ExpectedBits returns how much memory is to be expected if runs[i] blocks, on average,
// have i fingerprints: half a page of each class is not filled.
func (g *Geometry) ExpectedBits(runs []float64, blocks float64) float64 {
	var classes [classCount]float64
	for i, n := range runs {
		classes[g.class[min(i, g.Most)]] += n
	}
	var pages float64
	for class, n := range classes {
		if class > 0 && n > 0 {
			used := min(1, n) // whether there is such a run at all
			pages += max(used, n/float64(perPage(class))+used/2)
		}
	}
	return pages*pageBits + 64*blocks
}

// A Plan is runs that are going to grow, block by block. No class has more of them at
// any time than before or afterwards, but for the run that is growing. Places that runs
// leave are given back, which a plan does not count on.
type Plan struct {
	*Geometry
	runs, most [classCount]int
}

// Plan returns a plan for the runs as they are.
func (s *Store) Plan() *Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &Plan{Geometry: s.Geometry}
	for class := 1; class < classCount; class++ {
		c := &s.classes[class]
		p.most[class] = c.places(class)
		p.runs[class] = p.most[class] - c.free
	}
	return p
}

// Grow plans that a run grows.
func (p *Plan) Grow(from, to int) {
	old, class := p.class[from], p.class[to]
	for c := old + 1; c <= class; c++ {
		p.most[c] = max(p.most[c], p.runs[c]+1)
	}
	p.runs[old]--
	p.runs[class]++
}

// Reserve takes memory for a plan, and at least for so many bits of pages.
func (s *Store) Reserve(p *Plan, bits uint64) error {
	var pages uint64
	for class := 1; class < classCount; class++ {
		pages += uint64((p.most[class] + perPage(class) - 1) / perPage(class))
	}
	pages = max(pages, bits/(8*pageBytes))
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pages.reserve(pages - min(pages, s.pages.used-s.pages.free.count))
}

// Check reports whether every run belongs to its block, and every page to its list.
func (s *Store) Check(blocks uint64) error {
	var runs [classCount]int
	for i := range blocks {
		r := *s.Ref(i)
		if r.Count() == 0 {
			if r != 0 {
				return fmt.Errorf("evergreen: block %d is empty and has ref %#x", i, uint64(r))
			}
			continue
		}
		class := int(s.class[r.Count()])
		if got := owner(s.bytes(r.address(), class)); uint64(got) != i {
			return fmt.Errorf("evergreen: the run of block %d belongs to %d", i, got)
		}
		runs[class]++
	}
	total := s.pages.free.count
	for class := 1; class < classCount; class++ {
		c := &s.classes[class]
		total += c.count
		if places := c.places(class); places != runs[class]+c.free || s.countFree(c) != c.free {
			return fmt.Errorf("evergreen: %d runs and %d free places of class %d in %d places, %d in the list",
				runs[class], c.free, class, places, s.countFree(c))
		}
		if err := s.checkList(c.list, class); err != nil {
			return err
		}
	}
	if total != s.pages.used {
		return fmt.Errorf("evergreen: %d pages in lists, %d used", total, s.pages.used)
	}
	return s.checkList(s.pages.free, 0)
}

func (s *Store) countFree(c *sizeClass) (n int) {
	previous := uint64(0)
	for a := c.first; a != 0 && n <= c.free; a = s.freePlace(a).next() {
		if owner(s.freePlace(a)) != noOwner || s.freePlace(a).previous() != previous {
			return -1
		}
		previous = a
		n++
	}
	return n
}

func (s *Store) checkList(l list, class int) error {
	above, count := uint64(0), uint64(0)
	for page := l.top; page != 0 && count <= l.count; count++ {
		own := s.pages.link(page - 1)
		if own.class() != class || own.above() != above || page > s.pages.used {
			return fmt.Errorf("evergreen: page %d of class %d: link %#x, page above %d", page-1, class, uint64(own), above)
		}
		above, page = page, own.below()
	}
	if count != l.count {
		return fmt.Errorf("evergreen: %d pages in the list of class %d, counted %d", count, class, l.count)
	}
	return nil
}
