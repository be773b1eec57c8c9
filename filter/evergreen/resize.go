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
func (f *Filter) catchUp() error {
	if !f.resizing.TryLock() {
		return nil
	}
	defer f.resizing.Unlock()
	for range stepsAtOnce {
		if f.closed || f.sum.Load() <= f.limit.Load() {
			break
		}
		if err := f.split(); err != nil {
			return err
		}
	}
	return nil
}

// relax merges blocks if the rate is below the low mark, and gives back pages that
// are not needed. What cannot be done now is left to later.
func (f *Filter) relax() {
	thin := f.sum.Load() < f.low.Load() && f.load().blocks() > f.floor.Load()
	if !thin && !f.store.loose.Load() || !f.resizing.TryLock() {
		return
	}
	defer f.resizing.Unlock()
	if f.closed {
		return
	}
	for range stepsAtOnce {
		if f.sum.Load() >= f.low.Load() || f.load().blocks() <= f.floor.Load() || f.merge() != nil {
			break
		}
	}
	if f.store.loose.Load() {
		f.stripes.lockAll()
		f.store.compact()
		f.stripes.unlockAll()
	}
}

// reserve makes sure that there is memory for so many blocks and their refs.
func (f *Filter) reserve(blocks uint64) error {
	if err := f.lines.grow(blocks); err != nil {
		return err
	}
	if err := f.store.refs.Grow(blocks); err != nil {
		return fmt.Errorf("evergreen: slow memory: %w: %w", filter.ErrStorage, err)
	}
	return nil
}

// split divides the next block in turn. The upper half is there before the new
// state says so, and the lower block has all bits until after that: a reader finds
// every key with either state, unless it looks into the lower block with the old
// one and too late, and then sees that the state has moved.
func (f *Filter) split() error {
	s := f.load()
	n := s.blocks()
	if n == f.shape.maxBlocks() {
		return fmt.Errorf("evergreen: %d blocks are the most: %w", n, filter.ErrFull)
	}
	if err := f.reserve(n + 1); err != nil {
		return err
	}
	lower, bit := split(n)
	st := f.stripes.of(lower)
	st.Lock()
	defer st.Unlock()
	low, high := f.divide(lower, bit)
	if err := f.store.replace(n, high); err != nil {
		return err
	}
	if err := f.store.replace(lower, low); err != nil {
		return errors.Join(err, f.store.replace(n, nil))
	}
	bits := f.gather(st, n, n+1)
	f.lines.at(n).store(&bits)
	f.publish(s.step(n + 1))
	bits = f.gather(st, lower, n+1)
	f.lines.at(lower).store(&bits)
	f.note(st, 0, f.share(len(low), bit+1)+f.share(len(high), bit+1)-f.share(len(low)+len(high), bit))
	f.expectSplit(n + 1)
	return nil
}

// divide returns the fingerprints of a block whose addresses have the bit clear,
// and those that have it set. Which half one belongs to cannot be guessed, so each is
// written to both and stays in one.
func (f *Filter) divide(block uint64, bit uint) (low, high []uint64) {
	r := f.store.ref(block)
	if r.count() == 0 {
		return nil, nil
	}
	list := f.store.fingerprints(f.scratch[0][:0], f.store.run(r), r.count())
	other := slices.Grow(f.scratch[1][:0], len(list))[:len(list)]
	f.scratch = [2][]uint64{list, other}
	shift := addressBit(bit, f.width)
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
func (f *Filter) merge() error {
	s := f.load()
	n := s.blocks() - 1
	lower, bit := split(n)
	st := f.stripes.of(lower)
	st.Lock()
	defer st.Unlock()
	a, b := f.store.ref(lower).count(), f.store.ref(n).count()
	if a+b > f.store.most-crowdedAt {
		return errSmaller
	}
	rise := f.share(a+b, bit) - f.share(a, bit+1) - f.share(b, bit+1)
	if f.sum.Load()+rise > f.limit.Load() {
		return errSmaller
	}
	if err := f.store.append(lower, n); err != nil {
		return err
	}
	line, image := f.lines.at(lower), f.lines.at(n)
	line.unite(image)
	f.publish(s.step(n))
	image.store(new(block))
	f.note(st, 0, rise)
	f.lines.shrink(n)
	f.store.refs.Shrink(n + n/3)
	f.expectSplit(n - 1)
	return nil
}

var errSmaller = fmt.Errorf("evergreen: shrink: fewer blocks would not keep the asked rate: %w", filter.ErrFull)

// publish makes a state the one that everybody sees.
func (f *Filter) publish(s state) {
	f.state.Store(uint64(s))
	f.retarget(s.blocks())
}

// Grow adds one block, which the filter keeps when it shrinks by itself.
func (f *Filter) Grow() error {
	f.resizing.Lock()
	defer f.resizing.Unlock()
	if f.closed {
		return errClosed
	}
	if err := f.split(); err != nil {
		return err
	}
	f.floor.Store(f.load().blocks())
	return nil
}

// Shrink takes one block away, and no more such than the filter has by itself are
// kept from then on. It answers ErrFull, and nothing has changed, if the rate would
// pass the asked one or there is nothing left to take away.
func (f *Filter) Shrink() error {
	f.resizing.Lock()
	defer f.resizing.Unlock()
	if f.closed {
		return errClosed
	}
	if f.load().blocks() == minBlocks {
		return fmt.Errorf("evergreen: shrink: %d blocks are the least: %w", minBlocks, filter.ErrFull)
	}
	if err := f.merge(); err != nil {
		return err
	}
	f.floor.Store(min(f.floor.Load(), f.load().blocks()))
	return nil
}

// Blocks returns how many blocks of 512 bits there are.
func (f *Filter) Blocks() uint64 { return f.load().blocks() }
