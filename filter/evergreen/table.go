package evergreen

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen/internal/slab"
	"github.com/everbloom-go/everbloom/internal/line"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// A table is a filter of blocks, their refs and runs. It may be used by many
// goroutines at once. A [Filter] of few keys has none.
type table struct {
	// What readers need: see lookup_amd64.s.
	state atomic.Uint64
	keying
	rounds int // bits per key and word
	level  line.Level
	simple bool // one round of AVX-512 will do for all keys
	lines  lines

	_ [64]byte // what follows changes often, and readers should not have to fetch it

	meter   meter
	shape   Shape
	store   *slab.Store // the slow memory
	stripes stripes
	file    *mem.File // nil if the slow memory is ordinary
	gone    gone      // written while all locks are held
	size    sizer
}

// gone says why a table takes no changes any more.
type gone uint8

const (
	inUse  gone = iota
	closed      // the slow memory is gone
	moved       // the keys are elsewhere: what the table holds is what it held then
)

// err returns the error of a change.
func (g gone) err() error {
	switch g {
	case closed:
		return errClosed
	case moved:
		return errMoved
	}
	return nil
}

var (
	errNotFound = fmt.Errorf("evergreen: delete: %w", filter.ErrNotFound)
	errLimit    = fmt.Errorf("evergreen: as many keys as the width of fingerprints allows: %w", filter.ErrFull)
	errCrowded  = fmt.Errorf("evergreen: the block of the key is full, by copies of a key or by keys that are not hashed: %w", filter.ErrFull)
	errClosed   = fmt.Errorf("evergreen: the filter is closed: %w", filter.ErrStorage)

	// errMoved never leaves the package: the caller tries again with what took the
	// table's place.
	errMoved = errors.New("evergreen: the table was replaced")
)

func isMoved(err error) bool { return err != nil && errors.Is(err, errMoved) }

// newTable returns an empty table with so many blocks, which it keeps.
func newTable(s Shape, blocks uint64, slowFile string) (*table, error) {
	t := &table{
		shape:  s,
		keying: keying{mixer: newMixer(s.Salt), width: s.Width, exact: s.Exact()},
		rounds: s.perWord(),
		level:  line.CPU,
		simple: isSimple(line.CPU, s),
	}
	t.meter.init(s)
	t.size.t, t.size.least = t, s.leastBlocks(slowFile)
	if err := t.allocate(blocks, slowFile); err != nil {
		return nil, err
	}
	if blocks > s.maxBlocks() { // on a machine that has the memory
		return nil, errors.Join(fmt.Errorf("evergreen: %d blocks, at most %d: %w", blocks, s.maxBlocks(), filter.ErrStorage), t.close())
	}
	t.size.keepAtLeast(blocks)
	t.publish(state(0).step(blocks))
	return t, nil
}

func (t *table) allocate(blocks uint64, slowFile string) error {
	var from mem.Allocator = mem.Heap{}
	if slowFile != "" {
		file, err := mem.CreateFile(slowFile)
		if err != nil {
			return fmt.Errorf("evergreen: %w: %w", filter.ErrStorage, err)
		}
		t.file, from = file, file
		// All that leads into the file leads to t as well, so a file that t no longer
		// needs is not in use.
		runtime.AddCleanup(t, func(f *mem.File) { _ = f.Discard() }, file)
	}
	t.lines.init()
	t.store = slab.New(t.width/8, lowBits, &t.stripes, from)
	err := t.reserve(blocks)
	if err != nil && t.file != nil {
		_ = t.file.Discard() // err says what went wrong
	}
	return err
}

// reserve makes sure that there is memory for so many blocks and their refs.
func (t *table) reserve(blocks uint64) error {
	if err := t.lines.grow(blocks); err != nil {
		return err
	}
	return t.store.Grow(blocks)
}

// publish makes a state the one that all goroutines see.
func (t *table) publish(s state) {
	t.state.Store(uint64(s))
	t.meter.aim(s.blocks())
}

// close removes the file of the slow memory, if there is one.
func (t *table) close() error {
	if t.file == nil {
		return nil
	}
	t.size.Lock()
	defer t.size.Unlock()
	t.stripes.lockAll()
	defer t.stripes.unlockAll()
	if t.gone == closed {
		return nil
	}
	t.gone = closed
	if err := t.file.Discard(); err != nil {
		return fmt.Errorf("evergreen: SlowFile: %w: %w", filter.ErrStorage, err)
	}
	return nil
}

func (t *table) isClosed() bool {
	st := &t.stripes[0] // any will do
	st.Lock()
	defer st.Unlock()
	return t.gone == closed
}

// contains reports whether k is in the set, from the fingerprints.
func (t *table) contains(k filter.Key) bool {
	if !t.has(k) {
		return false
	}
	mixed := t.mixer.mix(k)
	st := t.stripes.of(addressOf(mixed))
	st.Lock()
	defer st.Unlock()
	return t.gone == closed || t.stores(st, mixed, place(mixed, t.load().blocks()))
}

// info describes the table as it stands.
func (t *table) info() filter.Info {
	keys, sum := t.count()
	blocks := t.load().blocks()
	info := filter.Info{
		Kind:      "evergreen",
		Keys:      uint64(keys),
		Exact:     true,
		FastBits:  blocks * theory.BlockBits,
		SlowBits:  t.store.Bits(blocks),
		FPR:       min(1, float64(sum)/one+t.shape.floor(uint64(keys))),
		Unbounded: true,
	}
	info.Fill = float64(keys) * float64(t.shape.Width) / float64(info.SlowBits)
	info.Details = []filter.Detail{
		{Name: "blocks", Value: strconv.FormatUint(blocks, 10)},
		{Name: "asked rate", Value: quantity.Rate(t.shape.FPR)},
	}
	if !t.exact {
		info.Duplicates = filter.DuplicatesCounted
		info.Capacity = uint64(t.meter.capacity)
	}
	return info
}

// count returns the number of keys and the sum of rates, stripe by stripe.
func (t *table) count() (keys, sum int64) {
	for i := range t.stripes {
		st := &t.stripes[i]
		st.Lock()
		_ = t.deliver(st) // if there is no memory, a few keys are missing in the rate
		keys += st.keys
		sum += st.pending
		st.Unlock()
	}
	return keys, sum + t.meter.sum.Load()
}

// finish completes a table that was filled and is not in use yet. It keeps so many
// blocks.
func (t *table) finish(floor uint64) {
	t.size.keepAtLeast(floor)
	for i := range t.stripes {
		t.meter.flush(&t.stripes[i])
	}
	t.meter.aim(t.load().blocks())
}
