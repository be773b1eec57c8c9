package evergreen

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// A table is a filter of blocks, their refs and runs. It may be used by many
// goroutines at once. A [Filter] of few keys has none.
type table struct {
	// What readers need: see lookup_amd64.s.
	state  atomic.Uint64
	mixer  mixer
	width  int  // of a fingerprint, in bits
	rounds int  // bits per key and word
	simple bool // one round of AVX-512 will do for all keys
	full   bool // fingerprints are whole keys
	lines  lines

	_ [64]byte // what follows changes often, and readers should not have to fetch it

	// The rate and the keys as far as stripes have told, and the marks at which the
	// table grows and shrinks.
	sum, keys, limit, low atomic.Int64

	shape     Shape
	capacity  int64
	flushKeys int64 // how many a stripe of a compact table may keep to itself
	flushAt   int64 // how much of the rate
	rates     []int64
	store     *store
	stripes   stripes
	file      *mem.File // nil if the slow memory is ordinary
	gone      gone      // written while all locks are held

	resizing sync.Mutex    // held while splitting or merging, and to prevent both
	least    uint64        // blocks below which there are none, or a list: see list.go
	floor    atomic.Uint64 // blocks that the table keeps when it shrinks by itself
	made     uint64        // floor that it was made or read with
	scratch  [2][]uint64   // for splits
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
		shape:     s,
		full:      s.Full(),
		mixer:     newMixer(s.Salt),
		width:     s.Width,
		rounds:    s.perWord(),
		capacity:  int64(s.Capacity()),
		flushKeys: int64(s.Capacity() / 128 / stripeCount),
		flushAt:   int64(flushShare * s.FPR * one),
		rates:     blockRates(s.perWord()),
		least:     s.leastBlocks(slowFile),
	}
	if err := t.allocate(blocks, slowFile); err != nil {
		return nil, err
	}
	if blocks > s.maxBlocks() { // on a machine that has the memory
		return nil, errors.Join(fmt.Errorf("evergreen: %d blocks, at most %d: %w", blocks, s.maxBlocks(), filter.ErrStorage), t.close())
	}
	t.simple = t.isSimple()
	t.keepAtLeast(blocks)
	t.state.Store(uint64(state(0).step(blocks)))
	t.retarget(blocks)
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
	}
	err := t.lines.init()
	if err == nil {
		t.store, err = newStore(t.shape.Width/8, &t.stripes, from)
	}
	if err == nil {
		err = t.reserve(blocks)
	}
	if err != nil && t.file != nil {
		_ = t.file.Discard() // what went wrong is told already
	}
	return err
}

// close removes the file of the slow memory, if there is one.
func (t *table) close() error {
	if t.file == nil {
		return nil
	}
	t.resizing.Lock()
	defer t.resizing.Unlock()
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

func (t *table) load() state { return state(t.state.Load()) }

// fingerprint returns what is kept of a mixed key.
func (t *table) fingerprint(mixed uint64) uint64 { return fingerprintOf(mixed, t.width) }

// place returns the block of a mixed key among n.
func (t *table) place(mixed, n uint64) uint64 { return place(addressOf(mixed), n) }

// portableHas looks at the block that was the key's when it looked at the state. If
// the answer is no and the state has moved, the key may have moved, too.
func (t *table) portableHas(k filter.Key) bool {
	mixed := t.mixer.mix(k)
	fp := t.fingerprint(mixed)
	for {
		s := t.load()
		if b := t.lines.at(t.place(mixed, s.blocks())); b != nil && b.portableHas(fp, t.rounds) {
			return true
		}
		if t.load() == s {
			return false
		}
	}
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
	return t.gone == closed || t.find(st, mixed) >= 0 || t.seek(t.place(mixed, t.load().blocks()), t.fingerprint(mixed)) >= 0
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
		SlowBits:  t.store.bits(blocks),
		FPR:       min(1, float64(sum)/one+t.shape.floor(uint64(keys))),
		Unbounded: true,
	}
	info.Fill = float64(keys) * float64(t.shape.Width) / float64(info.SlowBits)
	info.Details = []filter.Detail{
		{Name: "blocks", Value: strconv.FormatUint(blocks, 10)},
		{Name: "asked rate", Value: strconv.FormatFloat(t.shape.FPR, 'g', -1, 64)},
	}
	if !t.full {
		info.Duplicates = filter.DuplicatesCounted
		info.Capacity = uint64(t.capacity)
	}
	return info
}

// keepAtLeast sets the floor of a table that is not in use yet.
func (t *table) keepAtLeast(blocks uint64) {
	t.made = blocks
	t.floor.Store(blocks)
}
