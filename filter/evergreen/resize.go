package evergreen

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/line"
)

// A sizer splits and merges the blocks of a table, on behalf of the writer that found
// it due. Each step changes one block and its image, and holds the stripe that both
// are in.
type sizer struct {
	sync.Mutex // held while splitting or merging, and to prevent both
	t          *table
	least      uint64        // blocks below which there are none, or a list: see list.go
	floor      atomic.Uint64 // blocks that the table keeps when it shrinks by itself
	made       uint64        // floor that it was made or read with
	scratch    [2][]uint64   // for splits
}

// stepsAtOnce is how many blocks one Add or Delete splits or merges at most. One
// split makes room for dozens of keys, so this much makes up for a pause.
const stepsAtOnce = 2

// keepAtLeast sets the floor of a table that is not in use yet.
func (z *sizer) keepAtLeast(blocks uint64) {
	z.made = blocks
	z.floor.Store(blocks)
}

// isListable reports whether a list may replace the table: it is not meant to keep
// blocks.
func (z *sizer) isListable() bool { return z.least > minBlocks && z.floor.Load() == minBlocks }

// growIfNeeded splits blocks until the rate is below the limit. While another
// goroutine resizes or takes a snapshot, that is left to later.
func (z *sizer) growIfNeeded() error {
	t := z.t
	if !z.TryLock() {
		return nil
	}
	defer z.Unlock()
	for range stepsAtOnce {
		if t.gone != inUse || !t.meter.isHigh() {
			break
		}
		if err := z.split(); err != nil {
			return err
		}
	}
	return nil
}

// splitTo splits blocks until there are n, or undoes what it did.
func (z *sizer) splitTo(n uint64) error {
	t := z.t
	z.Lock()
	defer z.Unlock()
	before := t.load().blocks()
	for t.load().blocks() < n {
		err := t.gone.err()
		if err == nil {
			err = z.split()
		}
		if err != nil {
			z.mergeTo(before)
			return err
		}
	}
	return nil
}

// mergeTo merges blocks until there are n, or as many as a Grow in between has asked
// for, as far as the rate and the memory allow. The caller holds the lock.
func (z *sizer) mergeTo(n uint64) {
	t := z.t
	for n = max(n, z.floor.Load()); t.load().blocks() > n && z.merge() == nil; {
	}
}

// maybeShrink merges blocks if the rate is below the low mark, and gives back pages
// that are not needed. What cannot be done now is left to later.
func (z *sizer) maybeShrink() {
	t := z.t
	keep := max(z.floor.Load(), z.least)
	thin := t.meter.isLow() && t.load().blocks() > keep
	if !thin && !t.store.IsFragmented() || !z.TryLock() {
		return
	}
	defer z.Unlock()
	if t.gone != inUse {
		return
	}
	keep = max(z.floor.Load(), z.least) // a Grow may have raised it before the lock was taken
	for range stepsAtOnce {
		if !t.meter.isLow() || t.load().blocks() <= keep || z.merge() != nil {
			break
		}
	}
	if t.store.IsFragmented() {
		t.stripes.lockAll()
		t.store.Compact()
		t.stripes.unlockAll()
	}
}

// split divides the next block in turn. The upper half is there before the new
// state says so, and the lower block has all bits until after that: a reader finds
// every key with either state, unless it looks into the lower block with the old
// one and too late, and then sees that the state has moved.
func (z *sizer) split() error {
	t := z.t
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
	low, high := z.divide(lower, bit)
	if err := t.store.Replace(n, high); err != nil {
		return err
	}
	if err := t.store.Replace(lower, low); err != nil {
		return errors.Join(err, t.store.Replace(n, nil))
	}
	bits := t.bitsOf(st, n, n+1)
	t.lines.at(n).Store(&bits)
	t.publish(s.step(n + 1))
	bits = t.bitsOf(st, lower, n+1)
	t.lines.at(lower).Store(&bits)
	t.meter.record(st, 0, t.meter.share(len(low), bit+1)+t.meter.share(len(high), bit+1)-t.meter.share(len(low)+len(high), bit))
	z.prefetchStep(n + 1)
	return nil
}

// prefetchStep asks for what splitting the block that is next in turn among n, or
// undoing that, needs.
func (z *sizer) prefetchStep(n uint64) {
	if n < prefetchFrom {
		return
	}
	lower, _ := split(n)
	for _, block := range [2]uint64{lower, n} {
		z.t.lines.prefetch(block)
		z.t.store.PrefetchAt(z.t.store.RefAddress(block))
	}
}

// divide returns the fingerprints of a block whose addresses have the bit clear,
// and those that have it set. Which half one belongs to cannot be guessed, so each is
// written to both and stays in one.
func (z *sizer) divide(block uint64, bit uint) (low, high []uint64) {
	t := z.t
	r := *t.store.Ref(block)
	if r.Count() == 0 {
		return nil, nil
	}
	list := t.store.Run(r).AppendTo(z.scratch[0][:0])
	other := slices.Grow(z.scratch[1][:0], len(list))[:len(list)]
	z.scratch = [2][]uint64{list, other}
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
func (z *sizer) merge() error {
	t := z.t
	s := t.load()
	n := s.blocks() - 1
	lower, bit := split(n)
	st := t.stripes.of(lower)
	st.Lock()
	defer st.Unlock()
	a, b := t.store.Ref(lower).Count(), t.store.Ref(n).Count()
	if a+b > t.store.Most-crowdedAt {
		return errSmaller
	}
	rise := t.meter.share(a+b, bit) - t.meter.share(a, bit+1) - t.meter.share(b, bit+1)
	if t.meter.sum.Load()+rise > t.meter.limit.Load() {
		return errSmaller
	}
	if err := t.store.Join(lower, n); err != nil {
		return err
	}
	lowerLine, image := t.lines.at(lower), t.lines.at(n)
	lowerLine.Unite(image)
	t.publish(s.step(n))
	image.Store(new(line.Block))
	t.meter.record(st, 0, rise)
	t.lines.shrink(n)
	t.store.Shrink(n)
	z.prefetchStep(n - 1)
	return nil
}

var (
	errSmaller = fmt.Errorf("evergreen: shrink: fewer blocks would not keep the asked rate: %w", filter.ErrFull)
	errLeast   = fmt.Errorf("evergreen: shrink: the filter has its least size: %w", filter.ErrFull)
)

// grow adds one block, which the table keeps when it shrinks by itself.
func (z *sizer) grow() error {
	t := z.t
	z.Lock()
	defer z.Unlock()
	if t.gone != inUse {
		return t.gone.err()
	}
	if err := z.split(); err != nil {
		return err
	}
	z.floor.Store(t.load().blocks())
	return nil
}

// shrink takes one block away, and no more such than the table has by itself are
// kept from then on.
func (z *sizer) shrink() error {
	t := z.t
	z.Lock()
	defer z.Unlock()
	if t.gone != inUse {
		return t.gone.err()
	}
	if t.load().blocks() <= z.least {
		return errLeast
	}
	if err := z.merge(); err != nil {
		return err
	}
	z.floor.Store(min(z.floor.Load(), t.load().blocks()))
	return nil
}

// Grow adds one block, which the filter keeps when it shrinks by itself. A list
// becomes a table.
func (f *Filter) Grow() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.table.Load(); t != nil {
		return t.size.grow()
	}
	if err := f.toTable(*f.list.Load()); !isMoved(err) {
		return err
	}
	t := f.table.Load()
	t.size.floor.Store(t.size.least)
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
	err := t.size.shrink()
	if errors.Is(err, errLeast) && t.size.least > minBlocks {
		t.size.Lock()
		defer t.size.Unlock()
		if f.tryList(t, listMost) {
			return nil
		}
	}
	return err
}
