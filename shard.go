package everbloom

import (
	"sync"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
)

// A shard is one filter with its locks. It fills a cache line, so that
// the locks of neighbours do not share one.
type shard struct {
	filter   filter.Filter
	locking  locking
	addsOnly bool                 // queries need no lock, and no key is ever deleted
	mu       sync.RWMutex         // of everything, where readers need a lock
	writers  sync.Mutex           // of everything but queries, where they need none
	stripes  *[stripeCount]stripe // of the blocks of a large quick filter; they are locked after writers
}

// A locking says which calls of a filter may run at the same time.
type locking uint8

const (
	readersLock locking = iota // queries beside each other, everything else alone
	writersLock                // queries beside everything, everything else alone
	noLock                     // the filter does it
)

func lockingOf(f filter.Filter) locking {
	switch a := filter.AbilitiesOf(f); {
	case a.Concurrent:
		return noLock
	case a.LockFree:
		return writersLock
	}
	return readersLock
}

// A stripe is the lock of a part of the blocks of a quick filter, and how many bits were
// set in them that the filter does not count yet. It fills a cache line.
type stripe struct {
	mu    sync.Mutex
	fresh uint64
	_     [48]byte
}

// stripeCount is how many stripes a large quick filter has. Two writers seldom meet then,
// and what they write lies in lines of their own.
const stripeCount = 16

// spins is how often a writer tries before it waits. Others hold the lock for some ten
// nanoseconds, and sync.Mutex waits for a microsecond before it looks again.
const spins = 100

func (st *stripe) lock() {
	for range spins {
		if st.mu.TryLock() {
			return
		}
	}
	st.mu.Lock()
}

// lockWriters keeps all writers out, and has the filter count all bits.
func (sh *shard) lockWriters() {
	sh.writers.Lock()
	if sh.stripes == nil {
		return
	}
	for i := range sh.stripes {
		st := &sh.stripes[i]
		st.lock()
		sh.filter.(*bloom.Blocked).CountBits(st.fresh)
		st.fresh = 0
	}
}

func (sh *shard) unlockWriters() {
	if sh.stripes != nil {
		for i := range sh.stripes {
			sh.stripes[i].mu.Unlock()
		}
	}
	sh.writers.Unlock()
}

// lock prepares for a change, unlock ends it.
func (sh *shard) lock() {
	switch sh.locking {
	case readersLock:
		sh.mu.Lock()
	case writersLock:
		sh.lockWriters()
	}
}

func (sh *shard) unlock() {
	switch sh.locking {
	case readersLock:
		sh.mu.Unlock()
	case writersLock:
		sh.unlockWriters()
	}
}

// freeze prepares for a look at the whole filter, thaw ends it.
func (sh *shard) freeze() {
	switch sh.locking {
	case readersLock:
		sh.mu.RLock()
	case writersLock:
		sh.lockWriters()
	}
}

func (sh *shard) thaw() {
	switch sh.locking {
	case readersLock:
		sh.mu.RUnlock()
	case writersLock:
		sh.unlockWriters()
	}
}

// mayContain asks the filter.
func (sh *shard) mayContain(k filter.Key) bool {
	if sh.locking != readersLock {
		return sh.filter.MayContain(k)
	}
	sh.mu.RLock()
	found := sh.filter.MayContain(k)
	sh.mu.RUnlock()
	return found
}

func (sh *shard) mayContainBatch(keys []filter.Key, out []bool) {
	if sh.locking == readersLock {
		sh.mu.RLock()
		defer sh.mu.RUnlock()
	}
	filter.MayContainBatch(sh.filter, keys, out)
}

// add adds to the filter. Where readers need no lock, and adding a key again changes
// nothing, a key that is there already takes none either.
func (sh *shard) add(k filter.Key) (added bool, err error) {
	if sh.addsOnly && sh.filter.MayContain(k) {
		return false, nil
	}
	sh.lock()
	added, err = sh.filter.Add(k)
	sh.unlock()
	return added, err
}

// quickAdd is add for the quick filter, which never fails.
func (sh *shard) quickAdd(f *bloom.Blocked, k filter.Key) (added bool) {
	if f.MayContainFast(k) {
		return false
	}
	if sh.stripes == nil {
		sh.writers.Lock()
		fresh := f.AddFast(k)
		f.CountBits(fresh)
		sh.writers.Unlock()
		return fresh > 0
	}
	st := &sh.stripes[f.Block(k)%stripeCount]
	if !st.mu.TryLock() {
		st.lock()
	}
	fresh := f.AddFast(k)
	st.fresh += fresh
	st.mu.Unlock()
	return fresh > 0
}
