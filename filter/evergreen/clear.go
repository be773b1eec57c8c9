package evergreen

import "github.com/everbloom-go/everbloom/internal/line"

// Clear takes all keys out. The filter has the size then that it was made or read
// with, or the one it has if Shrink has made that less, and further memory is given
// back. Beside other calls it is one step: a key that is added
// meanwhile is there afterwards or not, as if its Add had come after or before.
// The error is ErrStorage if the filter is closed.
func (f *Filter) Clear() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.table.Load()
	if t == nil {
		f.list.Store(&noKeys)
		return nil
	}
	t.size.Lock()
	defer t.size.Unlock()
	t.stripes.lockAll()
	defer t.stripes.unlockAll()
	if t.gone != inUse {
		return t.gone.err()
	}
	t.size.floor.Store(min(t.size.made, t.load().blocks())) // Shrink may have given the rest back
	if t.size.isListable() {
		f.toList(t, &noKeys)
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
	keep := t.size.floor.Load()
	for i := range s.blocks() {
		t.lines.at(i).Store(new(line.Block))
	}
	for i := range t.stripes {
		st := &t.stripes[i]
		st.keys, st.changed, st.pending = 0, 0, 0
		st.inbox.count, st.inbox.crowded = 0, false
	}
	t.meter.reset()
	t.publish(s.step(keep))
	t.lines.shrink(keep)
	t.store.Clear(s.blocks(), keep)
}
