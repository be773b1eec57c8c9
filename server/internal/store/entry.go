package store

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/rebloom"
)

// An Entry is a set, or a string, with what belongs to it.
type Entry struct {
	number   uint64
	spec     *Spec // without expiry and items; entries that are alike share it
	hash     *filter.Hash
	imported keyer         // what RedisBloom made, which knows its keys; else nil
	filter   filter.Filter // nil for a string
	text     []byte
	lockFree bool // queries need no lock
	addsOnly bool // no key is ever deleted
	exact    bool // keys are told apart exactly
	counts   bool // keys that are added again are there once more

	mu     sync.RWMutex // of the filter, but for queries if they need none, and of copies
	copies copies       // of an exact kind

	expiry  atomic.Int64
	items   atomic.Uint64
	deletes atomic.Uint64
	version atomic.Uint64 // number of the record that changed the entry last
	bytes   atomic.Int64

	// What follows belongs to the partition.

	name   string
	fresh  uint64 // keys added since the bytes were measured
	imaged uint64 // records through this number are in the filter as it was loaded

	// Ahead is the entry as it will be when everything is applied that was decided.
	Ahead Ahead
}

// Ahead is what was decided about an entry.
type Ahead struct {
	Name           string
	Items, Deletes uint64
	Expiry         int64
	Gone           bool
	Changed        bool // since the last commit
}

// NewEntry makes the entry that a Spec describes, which is not in the store yet. content is
// the text of a string, and otherwise nil.
func (s *Store) NewEntry(number uint64, name string, spec Spec, content []byte) (*Entry, error) {
	if !spec.valid() { // it could not be read again
		return nil, errSpec
	}
	if spec.Type == Text {
		e := s.entryOf(number, name, spec, nil)
		e.text = content
		e.measure()
		return e, nil
	}
	m, ok := makers[spec.Kind]
	if !ok {
		return nil, fmt.Errorf("store: a filter of kind %d: a newer release wrote it", spec.Kind)
	}
	f, err := m.build(spec.Shape)
	if err != nil {
		return nil, err
	}
	return s.entryOf(number, name, spec, f), nil
}

// entryOf returns an entry over a filter that may have keys.
func (s *Store) entryOf(number uint64, name string, spec Spec, f filter.Filter) *Entry {
	e := &Entry{number: number, name: name, spec: s.shared(spec), hash: &s.hash, filter: f}
	if f != nil {
		e.lockFree = filter.AbilitiesOf(f).LockFree
		e.addsOnly = spec.Type == Bloom
		_, e.exact = f.(filter.Exact)
		e.counts = f.Info().Duplicates == filter.DuplicatesCounted
	}
	if spec.Part.Count > 0 {
		s.spreads.Store(true)
	}
	e.expiry.Store(spec.Expiry)
	e.Ahead = Ahead{Name: name, Expiry: spec.Expiry}
	e.measure()
	return e
}

// Number returns the number that an entry has for life.
func (e *Entry) Number() uint64 { return e.number }

// Spec says what the entry is, without Expiry, Items and Deletes.
func (e *Entry) Spec() *Spec { return e.spec }

// Described returns the Spec with everything that it may say.
func (e *Entry) Described() Spec {
	s := *e.spec
	s.Expiry, s.Items, s.Deletes = e.expiry.Load(), e.items.Load(), e.deletes.Load()
	return s
}

// Type returns what the entry is to a client.
func (e *Entry) Type() Type { return e.spec.Type }

// Text returns the content of a string.
func (e *Entry) Text() []byte { return e.text }

// Key returns the Key of an item.
func (e *Entry) Key(item []byte) filter.Key {
	if e.imported != nil {
		if k, ok := e.imported.Key(item); ok {
			return k
		}
	}
	return e.hash.Bytes(item)
}

// Expiry returns when the entry ends, 0 if never.
func (e *Entry) Expiry() int64 { return e.expiry.Load() }

// Items returns how many items were added that were new, or if they are counted, how often
// items were added.
func (e *Entry) Items() uint64 { return e.items.Load() }

// Deletes returns how often items were deleted.
func (e *Entry) Deletes() uint64 { return e.deletes.Load() }

// Version returns the number of the record that changed the entry last.
func (e *Entry) Version() uint64 { return e.version.Load() }

// Bytes returns the memory that the entry takes.
func (e *Entry) Bytes() int64 { return e.bytes.Load() }

// Exact reports whether the entry tells keys apart exactly.
func (e *Entry) Exact() bool { return e.exact }

// Ignores reports whether adding a key that is there changes nothing: then it need not be
// logged. Otherwise it is there once more.
func (e *Entry) Ignores() bool { return e.addsOnly || e.exact }

// MayContain asks the filter. False is certain.
func (e *Entry) MayContain(k filter.Key) bool {
	if e.lockFree {
		return e.filter.MayContain(k)
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.filter.MayContain(k)
}

// MayContainBatch answers MayContain(keys[i]) in out[i].
func (e *Entry) MayContainBatch(keys []filter.Key, out []bool) {
	if !e.lockFree {
		e.mu.RLock()
		defer e.mu.RUnlock()
	}
	filter.MayContainBatch(e.filter, keys, out)
}

// Has reports whether a key is there, exactly where the kind can.
func (e *Entry) Has(k filter.Key) bool {
	if x, exact := e.filter.(filter.Exact); exact {
		return e.MayContain(k) && x.Contains(k)
	}
	return e.MayContain(k)
}

// Count returns how often a key may be there.
func (e *Entry) Count(k filter.Key) uint64 {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.count(k)
}

// count is Count for a caller that holds the lock.
func (e *Entry) count(k filter.Key) uint64 {
	switch f := e.filter.(type) {
	case interface{ Count(filter.Key) uint64 }:
		return f.Count(k)
	case filter.Exact:
		if !f.Contains(k) {
			return 0
		}
		return 1 + uint64(e.copies[k])
	}
	if e.filter.MayContain(k) {
		return 1
	}
	return 0
}

// Info describes the filter as it stands.
func (e *Entry) Info() filter.Info {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.beside(e.filter.Info())
}

// Units returns how many filters the entry consists of.
func (e *Entry) Units() int {
	if b, ok := e.imported.(*rebloom.Bloom); ok {
		if e.items.Load() > b.Items {
			return b.Links() + 1
		}
		return b.Links()
	}
	if u, ok := e.filter.(interface{ Units() int }); ok {
		e.mu.RLock()
		defer e.mu.RUnlock()
		return u.Units()
	}
	return 1
}

// fillSamples is how many parts of a filter stand for each that Fills returns.
const fillSamples = 8

// Fills divides the filter into at most n parts of equal size, in the order of memory, and
// returns about how full each is. There are none if the kind has no parts, or keeps few keys
// in a list.
func (e *Entry) Fills(n int) []float64 {
	f, ok := e.filter.(interface {
		Parts() (n uint64, fill func(i uint64) float64)
	})
	if !ok {
		return nil
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	parts, fill := f.Parts()
	out := make([]float64, min(uint64(n), parts))
	for i := range out {
		first, end := parts*uint64(i)/uint64(len(out)), parts*uint64(i+1)/uint64(len(out))
		samples := min(end-first, fillSamples)
		for j := range samples {
			out[i] += fill(first+(end-first)*j/samples) / float64(samples)
		}
	}
	return out
}

const (
	// entrySize is about what an entry takes beside its filter: itself and its places in maps.
	entrySize = 350

	// filterSize is about what a filter takes beside what its Info counts.
	filterSize = 350
)

// Size returns the memory of the filter.
func (e *Entry) Size() int64 { return sizeOf(e.Info()) }

func sizeOf(i filter.Info) int64 {
	return filterSize + int64(min((i.FastBits+i.SlowBits)/8, math.MaxInt64/2))
}

// measure finds out how much memory the entry takes. Nothing changes it meanwhile.
func (e *Entry) measure() {
	n := entrySize + int64(len(e.name)) + int64(len(e.text)) + copyMemory*int64(len(e.copies))
	if e.filter != nil {
		n += sizeOf(e.beside(e.filter.Info()))
	}
	e.bytes.Store(n)
	e.fresh = 0
}
