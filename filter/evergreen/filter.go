package evergreen

import (
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/merging"
)

// Filter is a set of keys that grows and shrinks a block at a time. It may be used
// by many goroutines at once. Few keys are a list, more are in a table: see list.go.
type Filter struct {
	table atomic.Pointer[table]   // nil while the keys are in the list
	list  atomic.Pointer[keyList] // nil while they are in the table
	mu    sync.Mutex              // held to change the list, and to replace one by the other
	shape Shape
}

var (
	_ filter.Deleter     = (*Filter)(nil)
	_ merging.Preparer   = (*Filter)(nil)
	_ filter.Resizer     = (*Filter)(nil)
	_ filter.Batcher     = (*Filter)(nil)
	_ filter.Prefetcher  = (*Filter)(nil)
	_ filter.Clearer     = (*Filter)(nil)
	_ filter.Exact       = (*Filter)(nil)
	_ filter.Lister      = (*Filter)(nil)
	_ filter.Differencer = (*Filter)(nil)
	_ filter.Snapshotter = (*Filter)(nil)
	_ filter.Concurrent  = (*Filter)(nil)
)

// ConcurrentUse marks the filter as safe for concurrent use.
func (f *Filter) ConcurrentUse() {}

// New returns an empty filter for the request.
func New(c Config) (*Filter, error) {
	s, err := c.Shape()
	if err != nil {
		return nil, err
	}
	if s.Exact() && c.Items <= uint64(listMost) && c.SlowFile == "" {
		return newListed(s), nil
	}
	blocks := s.leastBlocks(c.SlowFile)
	if c.Items > 0 {
		blocks = max(blocks, uint64(s.tableBlocks(c.Items)))
	}
	t, err := newTable(s, blocks, c.SlowFile)
	if err != nil {
		return nil, err
	}
	return fromTable(t), nil
}

// Build returns an empty filter of exactly this shape, of the smallest size.
func Build(s Shape) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Exact() {
		return newListed(s), nil
	}
	t, err := newTable(s, minBlocks, "")
	if err != nil {
		return nil, err
	}
	return fromTable(t), nil
}

// newListed returns an empty filter without a table.
func newListed(s Shape) *Filter {
	f := &Filter{shape: s}
	f.list.Store(&noKeys)
	return f
}

// fromTable returns the filter of a table.
func fromTable(t *table) *Filter {
	f := &Filter{shape: t.shape}
	f.table.Store(t)
	return f
}

// MayContain reports whether k may be in the set. False is certain. It reads one
// cache line of a table, or a few of a list, and never waits.
func (f *Filter) MayContain(k filter.Key) bool { return filterHas(f, k) }

// filterLookup is MayContain in Go.
func filterLookup(f *Filter, k filter.Key) bool { //nolint:unused // the assembly calls it
	t, list := f.present()
	if t == nil {
		return list.has(k)
	}
	return t.has(k)
}

// MayContainBatch answers MayContain(keys[i]) in out[i]. It panics if out is
// shorter than keys.
func (f *Filter) MayContainBatch(keys []filter.Key, out []bool) {
	out = out[:len(keys):len(out)]
	t, list := f.present()
	if t != nil {
		t.hasBatch(keys, out)
		return
	}
	for i, k := range keys {
		out[i] = list.has(k)
	}
}

// Contains reports whether k is in the set, from the keys. With whole keys it is
// never wrong; a compact filter errs for as few keys as share fingerprint and place
// with another.
func (f *Filter) Contains(k filter.Key) bool {
	t, list := f.present()
	if t == nil {
		return list.has(k)
	}
	return t.contains(k)
}

// Add puts k into the set. With whole keys it reports exactly whether k was not
// there; a compact filter stores a copy every time, and reports whether k looked
// new. The error is ErrStorage if there is no memory, or ErrFull if a compact
// filter has reached its limit or the block of k is full.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	for {
		if t := f.table.Load(); t != nil {
			added, err = t.add(t.mixer.mix(k))
		} else {
			added, err = f.addToList(k)
		}
		if !isMoved(err) {
			return added, err
		}
	}
}

// AddBatch adds the keys in order, each as Add does.
func (f *Filter) AddBatch(keys []filter.Key) (done, added int, err error) {
	for {
		var n, fresh int
		if t := f.table.Load(); t != nil {
			n, fresh, err = t.addBatch(keys[done:])
		} else {
			n, fresh, err = f.mergeIntoList(keys[done:])
		}
		done, added = done+n, added+fresh
		if !isMoved(err) && (err != nil || done == len(keys)) {
			return done, added, err
		}
	}
}

// Delete takes k out of the set. If k is not there it answers ErrNotFound, and
// nothing was changed; a compact filter may mistake another key for k. ErrStorage is
// possible, too: fingerprints may have to move to a smaller place.
func (f *Filter) Delete(k filter.Key) error {
	for {
		t := f.table.Load()
		if t == nil {
			if err := f.deleteFromList(k); !isMoved(err) {
				return err
			}
			continue
		}
		sparse, err := t.delete(t.mixer.mix(k))
		if err == nil && sparse && t.size.isListable() {
			f.backToList(t)
		}
		if !isMoved(err) {
			return err
		}
	}
}

// PrefetchAdd asks for the blocks of keys that will be added.
func (f *Filter) PrefetchAdd(keys []filter.Key) {
	if t := f.table.Load(); t != nil {
		t.prefetchAdd(keys)
	}
}

// PrefetchDelete asks for all that deleting the first 16 keys will need.
func (f *Filter) PrefetchDelete(keys []filter.Key) {
	if t := f.table.Load(); t != nil {
		t.prefetchDelete(keys)
	}
}

// Shape returns the filter's geometry.
func (f *Filter) Shape() Shape { return f.shape }

// Len returns the number of keys in the set. A compact filter counts copies. While
// others change the set, the keys of each stripe are counted at a moment of its own.
func (f *Filter) Len() uint64 {
	t, list := f.present()
	if t == nil {
		return uint64(len(list))
	}
	keys, _ := t.count()
	return uint64(keys)
}

// Info describes the filter as it stands.
func (f *Filter) Info() filter.Info {
	t, list := f.present()
	if t == nil {
		return list.info(f.shape)
	}
	return t.info()
}

// Close removes the file of a filter that has its slow memory there. Afterwards the
// filter only answers queries, also Contains as MayContain does; what needs the slow
// memory is refused with ErrStorage, and Keys gives none. Closing other filters does
// nothing.
func (f *Filter) Close() error {
	if t := f.table.Load(); t != nil {
		return t.close()
	}
	return nil
}

func (f *Filter) isClosed() bool {
	t := f.table.Load()
	return t != nil && t.isClosed()
}
