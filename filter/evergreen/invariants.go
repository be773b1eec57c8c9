package evergreen

import (
	"fmt"
	"slices"
)

// check reports what is wrong with a filter that is not in use.
func (f *Filter) check() error {
	t, list := f.present()
	if t != nil {
		return t.check()
	}
	for i := range list {
		if i > 0 && list[i-1] >= list[i] || i >= listMost {
			return fmt.Errorf("evergreen: key %d of a list of %d: %#x", i, len(list), list[i])
		}
	}
	return nil
}

func (t *table) check() error {
	for i := range t.stripes {
		if err := t.deliver(&t.stripes[i]); err != nil {
			return err
		}
	}
	if floor, n := t.floor.Load(), t.load().blocks(); floor > n {
		return fmt.Errorf("evergreen: %d blocks are to be kept of %d", floor, n)
	}
	if err := t.checkBlocks(); err != nil {
		return err
	}
	if err := t.store.check(t.load().blocks()); err != nil {
		return err
	}
	for i := range t.lines.array.Cap() {
		if b := t.lines.at(i); i >= t.load().blocks() && *b != (block{}) {
			return fmt.Errorf("evergreen: block %d of %d is not empty", i, t.load().blocks())
		}
	}
	return nil
}

// checkBlocks compares the blocks with their fingerprints, and the counts with both.
func (t *table) checkBlocks() error {
	n := t.load().blocks()
	var keys, sum int64
	for i := range n {
		r := t.store.ref(i)
		var list []uint64
		if r.count() > 0 {
			list = t.store.fingerprints(nil, t.store.run(r), r.count())
		}
		var want block
		for _, fp := range list {
			want.mark(fp, t.rounds)
			if home := t.place(mixedOf(fp, i, t.width), n); home != i {
				return fmt.Errorf("evergreen: block %d of %d holds fingerprint %#x of block %d", i, n, fp, home)
			}
		}
		if got := *t.lines.at(i); got != want {
			return fmt.Errorf("evergreen: block %d with %d keys: bits %x, want %x", i, len(list), got, want)
		}
		slices.Sort(list)
		if t.full && len(slices.Compact(list)) != r.count() {
			return fmt.Errorf("evergreen: block %d holds a fingerprint twice", i)
		}
		keys += int64(r.count())
		sum += t.share(r.count(), levelOf(i, n))
	}
	if gotKeys, gotSum := t.count(); gotKeys != keys || gotSum != sum {
		return fmt.Errorf("evergreen: %d keys and rate %d, counted %d and %d", keys, sum, gotKeys, gotSum)
	}
	return nil
}

// check looks whether every run belongs to its block, and every page to its list.
func (s *store) check(blocks uint64) error {
	var runs [classCount]int
	for i := range blocks {
		r := s.ref(i)
		if r.count() == 0 {
			if r != 0 {
				return fmt.Errorf("evergreen: block %d is empty and has ref %#x", i, uint64(r))
			}
			continue
		}
		if got := owner(s.run(r)); uint64(got) != i {
			return fmt.Errorf("evergreen: the run of block %d belongs to %d", i, got)
		}
		runs[s.classes[r.count()]]++
	}
	total := s.pages.free.count
	for class := 1; class < classCount; class++ {
		shelf := &s.shelves[class]
		total += shelf.count
		places := 0
		if shelf.count > 0 {
			places = shelf.places(class)
		}
		if places != runs[class]+shelf.holes || s.countHoles(shelf) != shelf.holes {
			return fmt.Errorf("evergreen: %d runs and %d holes of class %d in %d places, %d in the list",
				runs[class], shelf.holes, class, places, s.countHoles(shelf))
		}
		if err := s.checkList(shelf.list, class); err != nil {
			return err
		}
	}
	if total != s.pages.used {
		return fmt.Errorf("evergreen: %d pages in lists, %d used", total, s.pages.used)
	}
	return s.checkList(s.pages.free, 0)
}

func (s *store) countHoles(shelf *shelf) (n int) {
	previous := uint64(0)
	for a := shelf.first; a != 0 && n <= shelf.holes; a = s.hole(a).next() {
		if owner(s.hole(a)) != nobody || s.hole(a).previous() != previous {
			return -1
		}
		previous = a
		n++
	}
	return n
}

func (s *store) checkList(l list, class int) error {
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
