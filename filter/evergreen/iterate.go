package evergreen

import (
	"errors"
	"fmt"
	"iter"

	"github.com/everbloom-go/everbloom/filter"
)

// Keys gives every key in the set, in no particular order. The keys of each group
// of blocks are copied when their turn comes, so the filter may be changed
// meanwhile, also by the loop itself: a key that is in the set all the time is
// given once, one that comes or goes may be given or not. A compact filter has no
// keys to give, and the sequence is empty.
func (f *Filter) Keys() iter.Seq[filter.Key] {
	return func(yield func(filter.Key) bool) {
		if !f.full {
			return
		}
		for x := range f.mixed() {
			if !yield(f.mixer.key(x)) {
				return
			}
		}
	}
}

// mixed gives what is known of every mixed key: the fingerprint and the lowest bits
// of its address. It goes through the blocks by their lowest bits, for these stay
// when a block splits.
func (f *Filter) mixed() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		var list []uint64
		for low := range uint64(minBlocks) {
			list = f.group(list[:0], low)
			for _, fp := range list {
				if !yield(mixedOf(fp, low, f.width)) {
					return
				}
			}
		}
	}
}

// group appends the fingerprints of all blocks with the given lowest bits to list.
func (f *Filter) group(list []uint64, low uint64) []uint64 {
	st := f.stripes.of(low)
	st.Lock()
	defer st.Unlock()
	if f.closed {
		return list
	}
	for _, mixed := range st.inbox.list(st.waiting) {
		if addressOf(mixed)%minBlocks == low {
			list = append(list, f.fingerprint(mixed))
		}
	}
	n := f.load().blocks()
	for i := low; i < n; i += minBlocks {
		if r := f.store.ref(i); r.count() > 0 {
			list = f.store.fingerprints(list, f.store.run(r), r.count())
		}
	}
	return list
}

// Clone returns a copy in ordinary memory. What it is a copy of while others change
// the filter, [Filter.Snapshot] says.
func (f *Filter) Clone() (*Filter, error) {
	c := f.capture()
	if c.err != nil {
		return nil, c.err
	}
	twin, err := build(f.shape, c.blocks, "")
	if err != nil {
		return nil, err
	}
	for i := range c.blocks {
		if err := twin.settle(i, c.next(i)); err != nil {
			return nil, err
		}
	}
	twin.floor.Store(c.floor)
	twin.flushAll()
	return twin, nil
}

// settle fills an empty block of a filter that nobody else uses yet.
func (f *Filter) settle(i uint64, fingerprints []uint64) error {
	if len(fingerprints) == 0 {
		return nil
	}
	if err := f.store.replace(i, fingerprints); err != nil {
		return err
	}
	st, count, n := f.stripes.of(i), len(fingerprints), f.load().blocks()
	bits := f.gather(st, i, n)
	f.lines.at(i).store(&bits)
	f.watch(st, count)
	f.note(st, int64(count), f.share(count, levelOf(i, n)))
	return nil
}

var errNoKeys = fmt.Errorf("evergreen: a compact filter does not know its keys: %w", errors.ErrUnsupported)
