package elastic

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/merging"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// Filter is an Elastic Bloom filter. It may be used by many goroutines.
type Filter struct {
	// What queries read: all but the bits themselves never changes.
	fast   atomic.Pointer[fast]
	mixer  probe.Mixer
	hashes int

	_ [64]byte // queries need not wait for the line that writers write

	stripes stripes
	table   table
	shape   Shape
	order   uint64 // in which two filters are locked
	eager   bool
	pace    uint64 // trees that are split after each change

	// Read by a goroutine that holds any stripe, changed by one that holds all.
	closed bool
	exact  bool  // the number of keys is a count
	floor  int   // doublings below which the filter does not shrink by itself
	retry  int64 // set bits from which doubling is tried again after it failed
	thin   int64 // set bits at which halving is tried again after it failed, or more
}

var (
	_ filter.Deleter     = (*Filter)(nil)
	_ merging.Preparer   = (*Filter)(nil)
	_ filter.Clearer     = (*Filter)(nil)
	_ filter.Resizer     = (*Filter)(nil)
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
	_ filter.Concurrent  = (*Filter)(nil)
)

var (
	errBits     = fmt.Errorf("elastic: no fingerprint bits are left to grow by: %w", filter.ErrFull)
	errOverflow = fmt.Errorf("elastic: a bucket overflows and growing does not help: %w", filter.ErrFull)
	errCopies   = fmt.Errorf("elastic: a bucket overflows by copies of the same keys: %w", filter.ErrFull)
	errNotFound = fmt.Errorf("elastic: delete: %w", filter.ErrNotFound)
	errClosed   = fmt.Errorf("elastic: the filter is closed: %w", filter.ErrStorage)
)

// New returns an empty filter for what is asked for. One with a SlowFile must be closed.
func New(c Config) (*Filter, error) {
	s, err := c.Shape()
	if err != nil {
		return nil, err
	}
	f, err := build(s, c.SlowFile)
	if err != nil {
		return nil, err
	}
	f.eager = c.Eager
	return f, nil
}

// Build returns an empty filter of exactly this shape.
func Build(s Shape) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return build(s, "")
}

// filters counts those made, so that each has a number.
var filters atomic.Uint64

// build returns an empty filter of a good shape, its slow memory in a new file of the
// given path, if there is one.
func build(s Shape, path string) (*Filter, error) {
	f := &Filter{
		mixer: probe.NewMixer(s.Salt), hashes: s.Hashes,
		shape: s, order: filters.Add(1), exact: true, thin: math.MaxInt64, pace: s.pace(),
	}
	var from mem.Allocator = mem.Heap{}
	if path != "" {
		file, err := mem.CreateFile(path)
		if err != nil {
			return nil, fmt.Errorf("elastic: SlowFile: %w: %w", filter.ErrStorage, err)
		}
		from = file
	}
	err := f.table.init(s, from, &f.fast)
	f.stripes = newStripes(&f.table.slow.layout)
	if err != nil {
		_ = f.table.slow.close() // the first error says what is wrong
		return nil, err
	}
	return f, nil
}

// pace returns how many trees are split after each change: enough to be through after a
// quarter of the keys that lead to the next doubling.
func (s Shape) pace() uint64 {
	trees := float64(s.Hashes) / (s.load() * float64(s.Branches)) // for each key, when full
	return uint64(min(8+math.Ceil(4*trees), 1<<20))
}

// ConcurrentUse marks the type as safe for concurrent use.
func (f *Filter) ConcurrentUse() {}

// MayContain reports whether k may be in the set. False is certain. It reads the
// fast memory only and never waits.
//
// Bits are tested four at a time: their cache misses overlap, and where absent keys
// are common the processor is not made to guess which of the first few bits will be
// clear. Words and mask are read once: after each atomic load they would be read
// again.
func (f *Filter) MayContain(k filter.Key) bool {
	a := f.fast.Load()
	words, mask := a.words, a.mask
	h := f.mixer.Mix(k)
	left := f.hashes
	for ; left >= 4; left -= 4 {
		if four(words, mask, h) == 0 {
			return false
		}
		h = probe.StepBy(h, 4)
	}
	return a.rest(h, left)
}

// Add puts k into the set and reports whether it was new. A key whose fingerprints
// are all there is in the set already: that a new key is taken for an old one has
// odds of (kn/2^w)^k and about n/2^64 besides. ErrFull means that
// the filter would have to grow beyond the fingerprint bits it has, or because of
// copies that unions left; ErrStorage that it must grow and there is no memory.
// Nothing was changed then.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	var room [fewHashes]uint64
	return f.add(f.numbersOf(k, room[:0]))
}

// fewHashes is up to how many numbers of a key need no allocation: enough for a rate of 1e-9.
const fewHashes = 32

// numbersOf appends the different ones among the k numbers of w bits of a key.
func (f *Filter) numbersOf(k filter.Key, xs []uint64) []uint64 {
	h := f.mixer.Mix(k)
	width := uint64(1)<<f.shape.HashBits - 1
next:
	for range f.hashes {
		x := number(h) & width
		h = probe.Step(h)
		for _, y := range xs {
			if x == y {
				continue next
			}
		}
		xs = append(xs, x)
	}
	return xs
}

// Delete takes k out of the set. All its fingerprints must be there, otherwise it
// is not in the set and refused with ErrNotFound. After a union of sets that have
// something in common, or an intersection, a key may be there more than once; then
// all its copies go.
func (f *Filter) Delete(k filter.Key) error {
	var room [fewHashes]uint64
	return f.delete(f.numbersOf(k, room[:0]))
}

// Contains reports whether all fingerprints of k are there, the accurate query of
// [EBF21] Sec. 3.4. It is wrong only as seldom as Add, but reads the slow memory
// and waits for writers. A closed filter answers as MayContain does.
func (f *Filter) Contains(k filter.Key) bool {
	if !f.MayContain(k) {
		return false
	}
	var room [fewHashes]uint64
	xs := f.numbersOf(k, room[:0])
	locks := f.prepare(xs)
	f.stripes.lock(&locks)
	defer f.stripes.unlock(&locks)
	return f.closed || f.table.copies(xs) > 0
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape { return f.shape }

// Len returns the number of keys in the set: a count, unless there was a union of
// sets that have something in common, or an intersection, after which it is a good
// estimate.
func (f *Filter) Len() uint64 { return uint64(max(0, f.table.keys.Load())) }

// Fingerprints returns how many the slots hold: k for each key, and those of a key that
// both operands of a union have twice.
func (f *Filter) Fingerprints() uint64 { return uint64(f.table.prints.Load()) }

// Bits returns the current size.
func (f *Filter) Bits() uint64 { return f.fast.Load().size() }

// Close gives the slow memory back and removes its file. After it the filter only
// answers queries. Filters without a SlowFile need not be closed.
func (f *Filter) Close() error {
	f.stripes.lockAll()
	defer f.stripes.unlockAll()
	if f.closed {
		return nil
	}
	f.closed = true
	return f.table.close()
}
