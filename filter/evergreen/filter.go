package evergreen

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/theory"
)

// Filter is a set of keys that grows and shrinks a block at a time. It may be used
// by many goroutines at once.
type Filter struct {
	// What readers need: see lookup_amd64.s.
	state  atomic.Uint64
	mixer  mixer
	width  int  // of a fingerprint, in bits
	rounds int  // bits per key and word
	simple bool // filterHasOne will do for all keys
	full   bool // fingerprints are whole keys
	lines  lines

	_ [64]byte // what follows changes often, and readers should not have to fetch it

	// The rate and the keys as far as stripes have told, and the marks at which the
	// filter grows and shrinks.
	sum, keys, limit, low atomic.Int64

	shape     Shape
	capacity  int64
	flushKeys int64 // how many a stripe of a compact filter may keep to itself
	rates     []uint32
	store     *store
	stripes   stripes
	file      *mem.File // nil if the slow memory is ordinary
	closed    bool      // it is gone; written by who holds all locks

	resizing sync.Mutex    // held by who splits, merges, or wants none of it
	floor    atomic.Uint64 // blocks that the filter keeps when it shrinks by itself
	scratch  [2][]uint64   // for who is resizing
}

var (
	_ filter.Deleter     = (*Filter)(nil)
	_ filter.Merger      = (*Filter)(nil)
	_ filter.Resizer     = (*Filter)(nil)
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Prefetcher  = (*Filter)(nil)
	_ filter.Exact       = (*Filter)(nil)
	_ filter.Lister      = (*Filter)(nil)
	_ filter.Differencer = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
	_ filter.Concurrent  = (*Filter)(nil)
)

// ConcurrentUse marks the filter as safe for concurrent use.
func (f *Filter) ConcurrentUse() {}

var (
	errNotFound = fmt.Errorf("evergreen: delete: %w", filter.ErrNotFound)
	errLimit    = fmt.Errorf("evergreen: as many keys as the width of fingerprints allows: %w", filter.ErrFull)
	errCrowded  = fmt.Errorf("evergreen: the block of the key is full, by copies of a key or by keys that are not hashed: %w", filter.ErrFull)
	errClosed   = fmt.Errorf("evergreen: the filter is closed: %w", filter.ErrStorage)
)

// New returns an empty filter for the wish.
func New(c Config) (*Filter, error) {
	s, err := c.Shape()
	if err != nil {
		return nil, err
	}
	blocks := uint64(minBlocks)
	if c.Items > 0 {
		blocks = max(blocks, s.Predict(c.Items).Blocks)
	}
	return build(s, blocks, c.SlowFile)
}

// Build returns an empty filter of exactly this shape, of the smallest size.
func Build(s Shape) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return build(s, minBlocks, "")
}

// build returns an empty filter with so many blocks, which it keeps.
func build(s Shape, blocks uint64, slowFile string) (*Filter, error) {
	f := &Filter{
		shape:     s,
		full:      s.Full(),
		mixer:     newMixer(s.Salt),
		width:     s.Width,
		rounds:    s.perWord(),
		capacity:  int64(s.Capacity()),
		flushKeys: int64(s.Capacity() / 128 / stripeCount),
	}
	if err := f.allocate(blocks, slowFile); err != nil {
		return nil, err
	}
	if blocks > s.maxBlocks() { // on a machine that has the memory
		return nil, errors.Join(fmt.Errorf("evergreen: %d blocks, at most %d: %w", blocks, s.maxBlocks(), filter.ErrStorage), f.Close())
	}
	f.rates = newRates(s, f.store.most)
	f.simple = f.isSimple()
	f.floor.Store(blocks)
	f.state.Store(uint64(state(0).step(blocks)))
	f.retarget(blocks)
	return f, nil
}

func (f *Filter) allocate(blocks uint64, slowFile string) error {
	var from mem.Allocator = mem.Heap{}
	if slowFile != "" {
		file, err := mem.CreateFile(slowFile)
		if err != nil {
			return fmt.Errorf("evergreen: %w: %w", filter.ErrStorage, err)
		}
		f.file, from = file, file
	}
	err := f.lines.init()
	if err == nil {
		f.store, err = newStore(f.shape.Width/8, &f.stripes, from)
	}
	if err == nil {
		err = f.reserve(blocks)
	}
	if err != nil && f.file != nil {
		_ = f.file.Discard() // what went wrong is told already
	}
	return err
}

// Close removes the file of a filter that has its slow memory there. Afterwards the
// filter only answers queries, also Contains as MayContain does; what needs the slow
// memory is refused with ErrStorage, and Keys gives none. Other filters need not be closed, and do not mind.
func (f *Filter) Close() error {
	if f.file == nil {
		return nil
	}
	f.resizing.Lock()
	defer f.resizing.Unlock()
	f.stripes.lockAll()
	defer f.stripes.unlockAll()
	if f.closed {
		return nil
	}
	f.closed = true
	if err := f.file.Discard(); err != nil {
		return fmt.Errorf("evergreen: SlowFile: %w: %w", filter.ErrStorage, err)
	}
	return nil
}

func (f *Filter) isClosed() bool {
	st := &f.stripes[0] // any will do
	st.Lock()
	defer st.Unlock()
	return f.closed
}

func (f *Filter) load() state { return state(f.state.Load()) }

// fingerprint returns what is kept of a mixed key.
func (f *Filter) fingerprint(mixed uint64) uint64 { return fingerprintOf(mixed, f.width) }

// place returns the block of a mixed key among n.
func (f *Filter) place(mixed, n uint64) uint64 { return place(addressOf(mixed), n) }

// MayContain reports whether k may be in the set. False is certain. It reads one
// cache line and never waits.
//
// The common case is told from the others here, where that costs no further call.
func (f *Filter) MayContain(k filter.Key) bool {
	if f.simple {
		return filterHasOne(f, k)
	}
	return f.has(k)
}

// portableHas looks at the block that was the key's when it looked at the state. If
// the answer is no and the state has moved, the key may have moved, too.
func (f *Filter) portableHas(k filter.Key) bool {
	mixed := f.mixer.mix(k)
	fp := f.fingerprint(mixed)
	for {
		s := f.load()
		if b := f.lines.at(f.place(mixed, s.blocks())); b != nil && b.portableHas(fp, f.rounds) {
			return true
		}
		if f.load() == s {
			return false
		}
	}
}

// Contains reports whether k is in the set, from the fingerprints. With whole keys
// it is never wrong; a compact filter errs for as few keys as share fingerprint and
// place with another.
func (f *Filter) Contains(k filter.Key) bool {
	if !f.MayContain(k) {
		return false
	}
	mixed := f.mixer.mix(k)
	st := f.stripes.of(addressOf(mixed))
	st.Lock()
	defer st.Unlock()
	return f.closed || f.find(st, mixed) >= 0 || f.seek(f.place(mixed, f.load().blocks()), f.fingerprint(mixed)) >= 0
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape { return f.shape }

// Len returns the number of keys in the set. A compact filter counts copies. While
// others change the set, the keys of each stripe are counted at a moment of its own.
func (f *Filter) Len() uint64 {
	keys, _ := f.count()
	return uint64(keys)
}

// Info describes the filter as it stands.
func (f *Filter) Info() filter.Info {
	keys, sum := f.count()
	blocks := f.load().blocks()
	info := filter.Info{
		Kind:      "evergreen",
		Keys:      uint64(keys),
		Exact:     true,
		FastBits:  blocks * theory.BlockBits,
		SlowBits:  f.store.bits(blocks),
		FPR:       min(1, float64(sum)/asked*f.shape.FPR+f.shape.floor(uint64(keys))),
		Unbounded: true,
	}
	info.Fill = float64(keys) * float64(f.shape.Width) / float64(info.SlowBits)
	info.Details = []filter.Detail{
		{Name: "blocks", Value: strconv.FormatUint(blocks, 10)},
		{Name: "asked rate", Value: strconv.FormatFloat(f.shape.FPR, 'g', -1, 64)},
	}
	if !f.full {
		info.Duplicates = filter.DuplicatesCounted
		info.Capacity = uint64(f.capacity)
	}
	return info
}
