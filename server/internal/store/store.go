package store

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
)

// shardCount is how many parts the names are in. A part is what SCAN returns at once, at
// least.
const shardCount = 1024

// A Store is the sets of a server.
type Store struct {
	shards  [shardCount]shard
	renames atomic.Uint64 // how often the entry of some name became another
	bytes   atomic.Int64
	count   atomic.Int64
	expires atomic.Int64 // entries that end some time
	spreads atomic.Bool  // an entry is a part of a set, or was

	// What follows belongs to the partition.

	hash    filter.Hash
	byNum   map[uint64]*Entry
	pending map[uint64]*Entry // made when they were decided, to be published
	gone    map[uint64]uint64 // entries that are not in the images, and until when
	pieces  map[uint64][]byte // of contents that are not complete
	dropped []*Entry          // by the record that is applied
	loading bool              // names are not in use yet
	last    uint64            // number of the last entry
	shapes  map[request]filterShape
	specs   map[string]*Spec // by their stored form
	keys    []filter.Key
	added   []bool
}

// A shard is a part of the names.
type shard struct {
	mu    sync.RWMutex
	names map[string]*Entry
}

// New returns an empty store. It is loading until Loaded is called.
func New() *Store {
	return &Store{
		byNum:   make(map[uint64]*Entry),
		pending: make(map[uint64]*Entry),
		gone:    make(map[uint64]uint64),
		pieces:  make(map[uint64][]byte),
		shapes:  make(map[request]filterShape),
		specs:   make(map[string]*Spec),
		loading: true,
	}
}

// shardOf returns the shard of a name. It is the same one in every process: a cursor of Scan is
// the number of a shard, and the next call may reach another node, or a server that has started
// again. Names can be chosen so that all are in one shard. Its map has a seed of its own, so
// lookups stay fast; they wait for each other, and one SCAN returns as much as KEYS does.
func (s *Store) shardOf(name []byte) *shard {
	return &s.shards[filter.KeyOf(name)%shardCount]
}

// Lookup returns the entry of a name that has not ended by now, nil if there is none.
func (s *Store) Lookup(name []byte, now int64) *Entry {
	sh := s.shardOf(name)
	sh.mu.RLock()
	e := sh.names[string(name)]
	sh.mu.RUnlock()
	return e.at(now)
}

// Len returns how many entries there are, and how many of them end some time, without hidden
// parts.
func (s *Store) Len() (all, expiring int64) { return s.count.Load(), s.expires.Load() }

// Bytes returns the memory that all entries take.
func (s *Store) Bytes() int64 { return s.bytes.Load() }

// Scan hands the names of whole shards to do, from a cursor on, until there were n of
// them. It returns the cursor to go on with, 0 at the end. A name that is there throughout
// is seen once. Hidden parts are passed over.
func (s *Store) Scan(cursor uint64, n int, now int64, do func(name string, e *Entry)) (next uint64) {
	for i := cursor; i < shardCount; i++ {
		sh := &s.shards[i]
		sh.mu.RLock()
		for name, e := range sh.names {
			if e.at(now) != nil && !e.spec.Part.Hidden() {
				do(name, e)
				n--
			}
		}
		sh.mu.RUnlock()
		if n <= 0 && i+1 < shardCount {
			return i + 1
		}
	}
	return 0
}

// Random returns the name of some entry, of those that sees reports true for.
func (s *Store) Random(now int64, sees func(name string) bool) (name string, ok bool) {
	first := rand.IntN(shardCount)
	for i := range shardCount {
		if name, ok = s.shards[(first+i)%shardCount].some(now, sees); ok {
			return name, true
		}
	}
	return "", false
}

// some returns one name of a shard that sees reports true for, if there is one.
func (sh *shard) some(now int64, sees func(name string) bool) (name string, ok bool) {
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	for name, e := range sh.names {
		if e.at(now) != nil && !e.spec.Part.Hidden() && sees(name) {
			return name, true
		}
	}
	return "", false
}

// publish makes an entry known by its name.
func (s *Store) publish(e *Entry) {
	if s.loading {
		return
	}
	name := []byte(e.name)
	sh := s.shardOf(name)
	sh.mu.Lock()
	if sh.names == nil {
		sh.names = make(map[string]*Entry)
	}
	sh.names[e.name] = e
	sh.mu.Unlock()
	s.renames.Add(1) // behind the change: see Finder
}

// hide makes an entry unknown, unless its name belongs to another by now.
func (s *Store) hide(e *Entry) {
	if s.loading {
		return
	}
	sh := s.shardOf([]byte(e.name))
	sh.mu.Lock()
	if sh.names[e.name] == e {
		delete(sh.names, e.name)
	}
	sh.mu.Unlock()
	s.renames.Add(1)
}

// insert takes an entry in.
func (s *Store) insert(e *Entry) {
	s.byNum[e.number] = e
	s.last = max(s.last, e.number)
	s.bytes.Add(e.bytes.Load())
	s.countName(e, 1)
	s.publish(e)
}

// countName counts an entry that comes or goes, unless it is hidden.
func (s *Store) countName(e *Entry, n int64) {
	if e.spec.Part.Hidden() {
		return
	}
	s.count.Add(n)
	if e.expiry.Load() != 0 {
		s.expires.Add(n)
	}
}

// remove drops an entry.
func (s *Store) remove(e *Entry) {
	delete(s.byNum, e.number)
	s.bytes.Add(-e.bytes.Load())
	s.countName(e, -1)
	e.Ahead.Gone = true
	s.dropped = append(s.dropped, e)
}

// hideDropped makes the entries unknown that a record has dropped. It is called behind its last
// effect: a name that goes to another entry is never missing.
func (s *Store) hideDropped() {
	for _, e := range s.dropped {
		s.hide(e)
	}
	clear(s.dropped)
	s.dropped = s.dropped[:0]
}

// setExpiry changes when an entry ends.
func (s *Store) setExpiry(e *Entry, at int64) {
	before := e.expiry.Swap(at)
	if e.spec.Part.Hidden() {
		return
	}
	if before != 0 {
		s.expires.Add(-1)
	}
	if at != 0 {
		s.expires.Add(1)
	}
}

// Loaded ends the loading: names are in use from now on.
func (s *Store) Loaded() error {
	s.loading = false
	clear(s.gone)
	s.ForgetPieces() // their writer was ended before it came to the last one
	for _, e := range s.byNum {
		if other := s.Lookup([]byte(e.name), 0); other != nil {
			return fmt.Errorf("store: entries %d and %d have the same name", e.number, other.number)
		}
		if e.Exact() { // its image may have been ahead of the record that it is named by
			e.items.Store(e.filter.Info().Keys + e.copies.sum())
		}
		s.publish(e)
		e.ResetAhead()
	}
	return nil
}

// ForgetPieces forgets the pieces of contents whose last piece will not come.
func (s *Store) ForgetPieces() { clear(s.pieces) }

// ResetAhead takes back what was decided about an entry and not applied.
func (e *Entry) ResetAhead() {
	e.Ahead = Ahead{Name: e.name, Items: e.items.Load(), Deletes: e.deletes.Load(), Expiry: e.expiry.Load(), Gone: e.Ahead.Gone}
}

// Hash returns the hash of items.
func (s *Store) Hash() filter.Hash { return s.hash }

// NextNumber returns a number for a new entry.
func (s *Store) NextNumber() uint64 {
	s.last++
	return s.last
}

// Pend keeps an entry until the record that creates it is applied.
func (s *Store) Pend(e *Entry) { s.pending[e.number] = e }

// Unpend forgets the entries that were made for a record which is not applied.
func (s *Store) Unpend() { clear(s.pending) }

// Entries calls do with every entry, in no order.
func (s *Store) Entries(do func(*Entry)) {
	for _, e := range s.byNum {
		do(e)
	}
}

// ByNumber returns the entry with a number, nil if there is none.
func (s *Store) ByNumber(number uint64) *Entry { return s.byNum[number] }
