package evergreen

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// Keys gives every key in the set, in no particular order. The keys of each group
// of blocks are copied when their turn comes, so the filter may be changed
// meanwhile, also by the loop itself: a key that is in the set all the time is
// given once, one that comes or goes may be given or not. A compact filter has no
// keys to give, and the sequence is empty.
func (f *Filter) Keys() iter.Seq[filter.Key] {
	return func(yield func(filter.Key) bool) {
		if !f.shape.Exact() {
			return
		}
		t, list := f.present()
		if t == nil {
			slices.Values(list)(yield)
			return
		}
		for mixed := range t.mixed() {
			if !yield(t.mixer.key(mixed)) {
				return
			}
		}
	}
}

// mixed gives what is known of every mixed key: the fingerprint and the lowest bits
// of its address. It goes through the blocks by their lowest bits, for these stay
// when a block splits.
func (t *table) mixed() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		var list []uint64
		for low := range uint64(minBlocks) {
			list = t.group(list[:0], low)
			for _, fp := range list {
				if !yield(mixedOf(fp, low, t.width)) {
					return
				}
			}
		}
	}
}

// group appends the fingerprints of all blocks with the given lowest bits to list.
func (t *table) group(list []uint64, low uint64) []uint64 {
	st := t.stripes.of(low)
	st.Lock()
	defer st.Unlock()
	if t.gone == closed {
		return list
	}
	return t.groupOf(st, list, low)
}

// groupOf is group for a caller that holds st.
func (t *table) groupOf(st *stripe, list []uint64, low uint64) []uint64 {
	for _, mixed := range st.inbox.keys() {
		if addressOf(mixed)%minBlocks == low {
			list = append(list, t.fingerprint(mixed))
		}
	}
	n := t.load().blocks()
	for i := low; i < n; i += minBlocks {
		if r := *t.store.Ref(i); r.Count() > 0 {
			list = t.store.Run(r).AppendTo(list)
		}
	}
	return list
}

// Clone returns a copy in ordinary memory. What it is a copy of while others change
// the filter, [Filter.Snapshot] says.
func (f *Filter) Clone() (*Filter, error) {
	t, list := f.present()
	if t == nil {
		twin := newListed(f.shape)
		twin.list.Store(&list)
		return twin, nil
	}
	c, err := t.clone()
	if err != nil {
		return nil, err
	}
	return fromTable(c), nil
}

func (t *table) clone() (*table, error) {
	c := t.capture()
	if c.err != nil {
		return nil, c.err
	}
	twin, err := newTable(t.shape, c.blocks, "")
	if err != nil {
		return nil, err
	}
	for i := range c.blocks {
		if err := twin.fill(i, c.next(i)); err != nil {
			return nil, err
		}
	}
	twin.finish(c.floor)
	return twin, nil
}

// fill gives fingerprints to an empty block of a table that is not in use yet.
func (t *table) fill(i uint64, fingerprints []uint64) error {
	if len(fingerprints) == 0 {
		return nil
	}
	if err := t.store.Replace(i, fingerprints); err != nil {
		return err
	}
	st, count, n := t.stripes.of(i), len(fingerprints), t.load().blocks()
	bits := t.bitsOf(st, i, n)
	t.lines.at(i).Store(&bits)
	if count > t.store.Most-crowdedAt {
		st.inbox.crowded = true
	}
	t.meter.record(st, int64(count), t.meter.share(count, levelOf(i, n)))
	return nil
}

var errNoKeys = fmt.Errorf("evergreen: a compact filter does not know its keys: %w", errors.ErrUnsupported)
