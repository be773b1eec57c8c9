package evergreen

import (
	"sync"

	"github.com/everbloom-go/everbloom/filter/evergreen/internal/slab"
	"github.com/everbloom-go/everbloom/internal/line"
)

const (
	stripeBits  = 6
	stripeCount = 1 << stripeBits
)

// stripes are the writers' locks. The lowest bits of an address choose one. A block
// shares these bits with the block it was split from and with those split from it, at
// every size, so keys stay in their stripe.
type stripes [stripeCount]stripe

// A stripe guards its blocks, their runs, and what it counts.
type stripe struct {
	sync.Mutex
	keys    int64 // fingerprints in its blocks, and in its inbox
	changed int64 // keys that meter.keys does not have yet
	pending int64 // rate that meter.sum does not have yet
	inbox   inbox
}

// of returns the stripe of a block or an address.
func (s *stripes) of(block uint64) *stripe { return &s[block%stripeCount] }

// TryLock is for [slab.Locks].
func (s *stripes) TryLock(block, held uint64) bool {
	return s.of(block) == s.of(held) || s.of(block).TryLock()
}

// Unlock is for [slab.Locks].
func (s *stripes) Unlock(block, held uint64) {
	if s.of(block) != s.of(held) {
		s.of(block).Unlock()
	}
}

func (s *stripes) lockAll() {
	for i := range s {
		s[i].Lock()
	}
}

func (s *stripes) unlockAll() {
	for i := range s {
		s[i].Unlock()
	}
}

// add adds a mixed key. The table first grows if that is due, before anything else is
// changed.
func (t *table) add(mixed uint64) (added bool, err error) {
	t.prefetchBlock(mixed)
	if t.meter.keys.Load() >= t.meter.capacity {
		return false, errLimit
	}
	if t.meter.isHigh() {
		if err := t.size.growIfNeeded(); err != nil {
			return false, err
		}
	}
	st := t.stripes.of(addressOf(mixed))
	st.Lock()
	added, err = t.insert(st, mixed)
	st.Unlock()
	return added, err
}

// insert adds a mixed key. The caller holds st. The run is looked at only if all bits
// of the key are set, or if there is no inbox.
func (t *table) insert(st *stripe, mixed uint64) (added bool, err error) {
	if t.gone != inUse {
		return false, t.gone.err()
	}
	n := t.load().blocks()
	ready, err := t.openInbox(st, n)
	if err != nil {
		return false, err
	}
	block, fingerprint := place(mixed, n), t.fingerprint(mixed)
	bits := t.lines.at(block)
	if ready && bits.Add(fingerprint, t.rounds) {
		st.inbox.put(mixed)
		t.meter.record(st, 1, 0)
		return true, nil
	}
	present := bits.Has(fingerprint, t.rounds)
	if present && t.exact && t.stores(st, mixed, block) {
		return false, nil
	}
	if err := t.push(st, t.store.Ref(block), mixed, block, n); err != nil {
		return false, err
	}
	bits.Add(fingerprint, t.rounds)
	t.meter.record(st, 1, 0)
	return t.exact || !present, nil
}

// stores reports whether a mixed key is in the run of its block or in the inbox. The
// caller holds st.
func (t *table) stores(st *stripe, mixed, block uint64) bool {
	for _, other := range st.inbox.keys() {
		if t.alike(other, mixed) {
			return true
		}
	}
	r := *t.store.Ref(block)
	return r.Count() > 0 && t.store.Run(r).Find(t.fingerprint(mixed)) >= 0
}

// push appends a mixed key to the run of its block among n, whose ref is r, and records
// the rate. The caller holds st.
func (t *table) push(st *stripe, r *slab.Ref, mixed, block, n uint64) error {
	count := r.Count()
	if count == t.store.Most {
		return errCrowded
	}
	if err := t.store.Push(r, block, t.fingerprint(mixed)); err != nil {
		return err
	}
	if count+1 > t.store.Most-crowdedAt {
		st.inbox.crowded = true
	}
	t.meter.record(st, 0, t.meter.change(count, count+1, levelOf(block, n)))
	return nil
}

// sparseAt is how many keys of a stripe are so few that the whole table may have few.
const sparseAt = 2

// delete deletes a mixed key, and reports whether few keys are left in its stripe.
func (t *table) delete(mixed uint64) (sparse bool, err error) {
	t.prefetchKey(mixed)
	st := t.stripes.of(addressOf(mixed))
	st.Lock()
	err = t.remove(st, mixed)
	sparse = st.keys <= sparseAt
	st.Unlock()
	if err == nil {
		t.size.maybeShrink()
	}
	return sparse, err
}

// remove deletes a mixed key. The caller holds st. Each word of the block gets its
// final value at once: bits of other keys are never clear.
func (t *table) remove(st *stripe, mixed uint64) error {
	if t.gone != inUse {
		return t.gone.err()
	}
	n := t.load().blocks()
	block, fingerprint := place(mixed, n), t.fingerprint(mixed)
	bits := t.lines.at(block)
	if !bits.Has(fingerprint, t.rounds) {
		return errNotFound
	}
	exclusive := line.ExclusiveOf(fingerprint, t.rounds)
	if t.takeFromInbox(st, mixed, n, &exclusive) {
		fingerprint = line.NoFingerprint // it had not come to its run yet
	}
	if err := t.drop(st, block, n, fingerprint, &exclusive); err != nil {
		return err
	}
	rest := *bits
	exclusive.Clear(&rest)
	bits.Store(&rest)
	t.meter.record(st, -1, 0)
	return nil
}

// drop takes a fingerprint, unless it is none, out of the run of its block among n,
// records the rate, and has the other fingerprints of the run share their bits.
func (t *table) drop(st *stripe, block, n, fingerprint uint64, exclusive *line.Exclusive) error {
	missing := errNotFound
	if fingerprint == line.NoFingerprint {
		missing = nil
	}
	r := t.store.Ref(block)
	if r.Count() == 0 {
		return missing
	}
	run := t.store.Run(*r)
	i := exclusive.ShareAll(run, fingerprint)
	if i < 0 {
		return missing
	}
	if err := t.store.Drop(r, block, run, i); err != nil {
		return err
	}
	t.meter.record(st, 0, t.meter.change(run.Len(), run.Len()-1, levelOf(block, n)))
	return nil
}

// bitsOf returns the bits of the keys of a block among n, those in the inbox included.
// The caller holds st.
func (t *table) bitsOf(st *stripe, block, n uint64) (bits line.Block) {
	if r := *t.store.Ref(block); r.Count() > 0 {
		bits.Collect(t.store.Run(r), t.rounds)
	}
	for _, mixed := range st.inbox.keys() {
		if place(mixed, n) == block {
			bits.Mark(t.fingerprint(mixed), t.rounds)
		}
	}
	return bits
}
