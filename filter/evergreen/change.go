package evergreen

import (
	"math/bits"
	"unsafe"

	"github.com/everbloom-go/everbloom/filter/evergreen/internal/slab"
	"github.com/everbloom-go/everbloom/internal/line"
)

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

// openInbox makes sure that there is room for one more key in the inbox of a
// stripe, and reports whether there is an inbox among so many blocks. A stripe in
// which a block is crowded, which no hashed keys bring about, has none.
func (t *table) openInbox(st *stripe, blocks uint64) (ready bool, err error) {
	switch {
	case st.inbox.crowded: // runs must have room for what waits
		return false, t.deliver(st)
	case blocks < inboxFrom:
		return false, nil
	case st.inbox.mixed == nil:
		st.inbox.mixed = new([inboxSize]uint64)
	case st.inbox.count == inboxSize:
		err = t.deliver(st)
	}
	return err == nil, err
}

// deliver moves keys from the inbox of a stripe, which the caller holds, to their
// runs. Those for which there is no memory stay.
func (t *table) deliver(st *stripe) error {
	waiting := st.inbox.keys()
	if len(waiting) == 0 {
		return nil
	}
	if t.gone == closed {
		return errClosed
	}
	n := t.load().blocks()
	var (
		blocks [inboxSize]uint64
		refs   [inboxSize]*slab.Ref
	)
	for i, mixed := range waiting {
		blocks[i] = place(mixed, n)
		refs[i] = t.store.Ref(blocks[i])
		line.Prefetch(unsafe.Pointer(refs[i]))
	}
	for _, r := range refs[:len(waiting)] {
		t.store.PrefetchEnd(*r)
	}
	for i, mixed := range waiting {
		if err := t.push(st, refs[i], mixed, blocks[i], n); err != nil {
			st.inbox.count = copy(waiting, waiting[i:])
			return err
		}
	}
	st.inbox.count = 0
	return nil
}

// takeFromInbox takes a mixed key out of the inbox of a stripe, and reports whether it
// was there. The others of its block among n share bits with it. Keys of one block agree
// in all bits of their addresses but one, which few of an inbox do.
func (t *table) takeFromInbox(st *stripe, mixed, n uint64, exclusive *line.Exclusive) (found bool) {
	common := addressOf(1<<(bits.Len64(n)-1) - 1)
	block := place(mixed, n)
	box := &st.inbox
	for i := box.count - 1; i >= 0; i-- {
		other := box.mixed[i]
		switch {
		case (other^mixed)&common != 0:
		case !found && t.alike(other, mixed):
			box.count--
			box.mixed[i] = box.mixed[box.count]
			found = true
		case place(other, n) == block:
			exclusive.Share(t.fingerprint(other))
		}
	}
	return found
}
