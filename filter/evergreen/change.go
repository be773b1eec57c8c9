package evergreen

import "github.com/everbloom-go/everbloom/filter"

// Add puts k into the set. With whole keys it reports exactly whether k was not
// there; a compact filter stores a copy every time, and reports whether k looked
// new. The error is ErrStorage if there is no memory, or ErrFull if a compact
// filter has reached its limit.
func (f *Filter) Add(k filter.Key) (added bool, err error) {
	return f.add(f.mixer.mix(k))
}

// add is Add for a key that is mixed already.
func (f *Filter) add(mixed uint64) (added bool, err error) {
	f.expectBlock(mixed)
	if err := f.prepare(); err != nil {
		return false, err
	}
	st := f.stripes.of(addressOf(mixed))
	st.Lock()
	added, err = f.insert(st, mixed)
	st.Unlock()
	return added, err
}

// prepare has the filter grow if that is due, before anything else is changed.
func (f *Filter) prepare() error {
	if f.keys.Load() >= f.capacity {
		return errLimit
	}
	if f.sum.Load() > f.limit.Load() {
		return f.catchUp()
	}
	return nil
}

// insert does what Add is about, for one who holds the stripe. The run is looked at
// only if all bits of the key are set, or if there is no inbox.
func (f *Filter) insert(st *stripe, mixed uint64) (added bool, err error) {
	n := f.load().blocks()
	ready, err := f.openInbox(st, n)
	if err != nil {
		return false, err
	}
	i, fp := f.place(mixed, n), f.fingerprint(mixed)
	line := f.lines.at(i)
	if ready && line.add(fp, f.rounds) {
		st.inbox[st.waiting] = mixed
		st.waiting++
		f.note(st, 1, 0)
		return true, nil
	}
	there := line.has(fp, f.rounds)
	if there && f.full && (f.find(st, mixed) >= 0 || f.seek(i, fp) >= 0) {
		return false, nil
	}
	if err := f.push(st, f.store.slot(i), i, fp, n); err != nil {
		return false, err
	}
	line.add(fp, f.rounds)
	f.note(st, 1, 0)
	return f.full || !there, nil
}

// seek returns the place of a fingerprint in the run of a block, or -1. The caller
// holds the stripe.
func (f *Filter) seek(block, fingerprint uint64) int {
	r := f.store.ref(block)
	if r.count() == 0 {
		return -1
	}
	return f.store.find(f.store.run(r), r.count(), fingerprint)
}

// Delete takes k out of the set. If k is not there it answers ErrNotFound, and
// nothing was changed; a compact filter may mistake another key for k.
func (f *Filter) Delete(k filter.Key) error { return f.delete(f.mixer.mix(k)) }

// delete is Delete for a key that is mixed already.
func (f *Filter) delete(mixed uint64) error {
	f.expectKey(mixed)
	st := f.stripes.of(addressOf(mixed))
	st.Lock()
	err := f.remove(st, mixed)
	st.Unlock()
	if err == nil {
		f.relax()
	}
	return err
}

// remove does what Delete is about, for one who holds the stripe. Each word of the
// block gets its final value at once: bits of other keys are never clear.
func (f *Filter) remove(st *stripe, mixed uint64) error {
	n := f.load().blocks()
	i, fp := f.place(mixed, n), f.fingerprint(mixed)
	line := f.lines.at(i)
	if !line.has(fp, f.rounds) {
		return errNotFound
	}
	if f.recall(st, mixed) {
		fp = nothing // it had not come to its run yet
	}
	bits, at := f.gather(st, i, n, fp)
	if fp != nothing {
		if err := f.drop(st, i, at, n); err != nil {
			return err
		}
	}
	line.store(&bits)
	f.note(st, -1, 0)
	return nil
}

// drop takes fingerprint at, if it is one, out of the run of block i among n and
// notes the rate.
func (f *Filter) drop(st *stripe, i uint64, at int, n uint64) error {
	if at < 0 {
		return errNotFound
	}
	if err := f.store.drop(i, at); err != nil {
		return err
	}
	count, level := f.store.ref(i).count(), levelOf(i, n)
	f.note(st, 0, f.share(count, level)-f.share(count+1, level))
	return nil
}

// gather returns the bits of the keys of block i among n, those in the inbox
// included, but for one fingerprint, and the place of that in the run, or -1. The
// caller holds the stripe.
func (f *Filter) gather(st *stripe, i, n, except uint64) (bits block, at int) {
	at = -1
	if r := f.store.ref(i); r.count() > 0 {
		at = bits.collect(f.store.run(r), r.count(), f.store.geometry, except, f.rounds)
	}
	for _, mixed := range st.inbox.list(st.waiting) {
		if f.place(mixed, n) == i {
			bits.mark(f.fingerprint(mixed), f.rounds)
		}
	}
	return bits, at
}
