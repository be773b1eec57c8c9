package evergreen

import (
	"errors"
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// Splits and merges are done by one goroutine at a time, who holds resizing, on
// behalf of the writer that found them due. They change one block and its image,
// and hold the stripe that both are in.

// stepsAtOnce is how many blocks one Add or Delete splits or merges at most. One
// split makes room for dozens of keys, so that this much catches up with a pause.
const stepsAtOnce = 2

// catchUp splits blocks until the rate is below the limit. If somebody else is
// resizing, or a snapshot is being taken, it leaves that to later.
func (t *table) catchUp() error {
	if !t.resizing.TryLock() {
		return nil
	}
	defer t.resizing.Unlock()
	for range stepsAtOnce {
		if t.gone != inUse || t.sum.Load() <= t.limit.Load() {
			break
		}
		if err := t.split(); err != nil {
			return err
		}
	}
	return nil
}

// splitTo splits blocks until there are n, or undoes what it did.
func (t *table) splitTo(n uint64) error {
	t.resizing.Lock()
	defer t.resizing.Unlock()
	before := t.load().blocks()
	for t.load().blocks() < n {
		err := t.gone.err()
		if err == nil {
			err = t.split()
		}
		if err != nil {
			t.mergeTo(before)
			return err
		}
	}
	return nil
}

// mergeTo merges blocks until there are n, or as many as a Grow in between has asked
// for, as far as the rate and the memory allow. The caller holds resizing.
func (t *table) mergeTo(n uint64) {
	for n = max(n, t.floor.Load()); t.load().blocks() > n && t.merge() == nil; {
	}
}

// relax merges blocks if the rate is below the low mark, and gives back pages that
// are not needed. What cannot be done now is left to later.
func (t *table) relax() {
	keep := max(t.floor.Load(), t.least)
	thin := t.sum.Load() < t.low.Load() && t.load().blocks() > keep
	if !thin && !t.store.loose.Load() || !t.resizing.TryLock() {
		return
	}
	defer t.resizing.Unlock()
	if t.gone != inUse {
		return
	}
	keep = max(t.floor.Load(), t.least) // a Grow may have raised it before the lock was taken
	for range stepsAtOnce {
		if t.sum.Load() >= t.low.Load() || t.load().blocks() <= keep || t.merge() != nil {
			break
		}
	}
	if t.store.loose.Load() {
		t.stripes.lockAll()
		t.store.compact()
		t.stripes.unlockAll()
	}
}

// reserve makes sure that there is memory for so many blocks and their refs.
func (t *table) reserve(blocks uint64) error {
	if err := t.lines.grow(blocks); err != nil {
		return err
	}
	if err := t.store.refs.Grow(blocks); err != nil {
		return fmt.Errorf("evergreen: slow memory: %w: %w", filter.ErrStorage, err)
	}
	return nil
}

// split divides the next block in turn. The upper half is there before the new
// state says so, and the lower block has all bits until after that: a reader finds
// every key with either state, unless it looks into the lower block with the old
// one and too late, and then sees that the state has moved.
func (t *table) split() error {
	s := t.load()
	n := s.blocks()
	if n == t.shape.maxBlocks() {
		return fmt.Errorf("evergreen: %d blocks are the most: %w", n, filter.ErrFull)
	}
	if err := t.reserve(n + 1); err != nil {
		return err
	}
	lower, bit := split(n)
	st := t.stripes.of(lower)
	st.Lock()
	defer st.Unlock()
	low, high := t.divide(lower, bit)
	if err := t.store.replace(n, high); err != nil {
		return err
	}
	if err := t.store.replace(lower, low); err != nil {
		return errors.Join(err, t.store.replace(n, nil))
	}
	bits := t.gather(st, n, n+1)
	t.lines.at(n).store(&bits)
	t.publish(s.step(n + 1))
	bits = t.gather(st, lower, n+1)
	t.lines.at(lower).store(&bits)
	t.note(st, 0, t.share(len(low), bit+1)+t.share(len(high), bit+1)-t.share(len(low)+len(high), bit))
	t.expectSplit(n + 1)
	return nil
}

// divide returns the fingerprints of a block whose addresses have the bit clear,
// and those that have it set. Which half one belongs to cannot be guessed, so each is
// written to both and stays in one.
func (t *table) divide(block uint64, bit uint) (low, high []uint64) {
	r := t.store.ref(block)
	if r.count() == 0 {
		return nil, nil
	}
	list := t.store.fingerprints(t.scratch[0][:0], t.store.run(r), r.count())
	other := slices.Grow(t.scratch[1][:0], len(list))[:len(list)]
	t.scratch = [2][]uint64{list, other}
	shift := addressBit(bit, t.width)
	highs := 0
	for i, fp := range list {
		other[highs] = fp
		list[i-highs] = fp
		highs += int(fp >> shift & 1)
	}
	return list[:len(list)-highs], other[:highs]
}

// merge undoes the last split. The lower block has the bits of both before the new
// state says that the upper is gone.
func (t *table) merge() error {
	s := t.load()
	n := s.blocks() - 1
	lower, bit := split(n)
	st := t.stripes.of(lower)
	st.Lock()
	defer st.Unlock()
	a, b := t.store.ref(lower).count(), t.store.ref(n).count()
	if a+b > t.store.most-crowdedAt {
		return errSmaller
	}
	rise := t.share(a+b, bit) - t.share(a, bit+1) - t.share(b, bit+1)
	if t.sum.Load()+rise > t.limit.Load() {
		return errSmaller
	}
	if err := t.store.append(lower, n); err != nil {
		return err
	}
	line, image := t.lines.at(lower), t.lines.at(n)
	line.unite(image)
	t.publish(s.step(n))
	image.store(new(block))
	t.note(st, 0, rise)
	t.lines.shrink(n)
	t.store.refs.Shrink(n + n/8)
	t.expectSplit(n - 1)
	return nil
}

var (
	errSmaller = fmt.Errorf("evergreen: shrink: fewer blocks would not keep the asked rate: %w", filter.ErrFull)
	errLeast   = fmt.Errorf("evergreen: shrink: the filter has its least size: %w", filter.ErrFull)
)

// publish makes a state the one that everybody sees.
func (t *table) publish(s state) {
	t.state.Store(uint64(s))
	t.retarget(s.blocks())
}

// grow adds one block, which the table keeps when it shrinks by itself.
func (t *table) grow() error {
	t.resizing.Lock()
	defer t.resizing.Unlock()
	if t.gone != inUse {
		return t.gone.err()
	}
	if err := t.split(); err != nil {
		return err
	}
	t.floor.Store(t.load().blocks())
	return nil
}

// shrink takes one block away, and no more such than the table has by itself are
// kept from then on.
func (t *table) shrink() error {
	t.resizing.Lock()
	defer t.resizing.Unlock()
	if t.gone != inUse {
		return t.gone.err()
	}
	if t.load().blocks() <= t.least {
		return errLeast
	}
	if err := t.merge(); err != nil {
		return err
	}
	t.floor.Store(min(t.floor.Load(), t.load().blocks()))
	return nil
}

// Grow adds one block, which the filter keeps when it shrinks by itself. A list
// becomes a table.
func (f *Filter) Grow() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.table.Load(); t != nil {
		return t.grow()
	}
	if err := f.toTable(*f.list.Load()); !isMoved(err) {
		return err
	}
	t := f.table.Load()
	t.floor.Store(t.least)
	return nil
}

// Shrink takes one block away, or has a list take the place of the smallest table, and
// no more blocks than the filter has by itself are kept from then on. It answers
// ErrFull, and nothing has changed, if the rate would pass the asked one or there is
// nothing left to take away.
func (f *Filter) Shrink() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.table.Load()
	if t == nil {
		return errLeast
	}
	err := t.shrink()
	if errors.Is(err, errLeast) && t.least > minBlocks {
		t.resizing.Lock()
		defer t.resizing.Unlock()
		if f.toList(t, listMost) {
			return nil
		}
	}
	return err
}

// Blocks returns how many blocks of 512 bits there are; 0 while the keys are in a
// list.
func (f *Filter) Blocks() uint64 {
	if t := f.table.Load(); t != nil {
		return t.load().blocks()
	}
	return 0
}
