package evergreen

// Clear takes all keys out. The filter has the size then that it was made or read
// with, or the one it has if Shrink has made that less, and further memory is given
// back. Beside other calls it is one step: a key that is
// added meanwhile is there afterwards or not, as if its Add had come after or before.
// The error is ErrStorage if the filter is closed.
func (f *Filter) Clear() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.table.Load()
	if t == nil {
		f.list.Store(&noKeys)
		return nil
	}
	t.resizing.Lock()
	defer t.resizing.Unlock()
	t.stripes.lockAll()
	defer t.stripes.unlockAll()
	if t.gone != inUse {
		return t.gone.err()
	}
	t.floor.Store(min(t.made, t.load().blocks())) // Shrink may have given the rest back
	if t.isSmall() {
		f.replace(t, &noKeys)
	} else {
		t.clear()
	}
	return nil
}

// clear empties a table in place, so that no memory is needed. The caller holds all
// locks. Readers see keys go one by one, which is as if all went with the first: a
// key that is still found looks like a false positive.
func (t *table) clear() {
	s := t.load()
	keep := t.floor.Load()
	for i := range s.blocks() {
		t.lines.at(i).store(new(block))
		t.store.setRef(i, 0)
	}
	for i := range t.stripes {
		st := &t.stripes[i]
		st.keys, st.changed, st.pending, st.waiting, st.crowded = 0, 0, 0, 0, false
	}
	t.sum.Store(0)
	t.keys.Store(0)
	t.publish(s.step(keep))
	t.lines.shrink(keep)
	t.store.clear(keep)
}

// clear gives up all pages, for a store without runs.
func (s *store) clear(blocks uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shelves = [classCount]shelf{}
	s.pages.used, s.pages.free = 0, list{}
	s.pages.release()
	s.refs.Shrink(blocks + blocks/8)
	s.loose.Store(false)
}
