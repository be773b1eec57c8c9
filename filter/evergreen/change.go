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
	if f.closed {
		return false, errClosed
	}
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
// nothing was changed; a compact filter may mistake another key for k. ErrStorage is
// possible, too: fingerprints may have to move to a smaller place.
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
	if f.closed {
		return errClosed
	}
	n := f.load().blocks()
	i, fp := f.place(mixed, n), f.fingerprint(mixed)
	line := f.lines.at(i)
	if !line.has(fp, f.rounds) {
		return errNotFound
	}
	bits := newOwn(fp, f.rounds)
	if f.recall(st, mixed, n, &bits) {
		fp = nothing // it had not come to its run yet
	}
	if err := f.drop(st, i, n, fp, &bits); err != nil {
		return err
	}
	rest := *line
	bits.clear(&rest)
	line.store(&rest)
	f.note(st, -1, 0)
	return nil
}

// drop takes a fingerprint, unless it is nothing, out of the run of block i among n,
// notes the rate, and has the other fingerprints share bits.
func (f *Filter) drop(st *stripe, i, n, fingerprint uint64, bits *own) error {
	slot := f.store.slot(i)
	r := ref(*slot)
	if r.count() == 0 {
		return found(fingerprint == nothing)
	}
	run := f.store.run(r)
	at := bits.shareAll(run, r.count(), f.store.geometry, fingerprint)
	if at < 0 {
		return found(fingerprint == nothing)
	}
	if err := f.store.drop(slot, i, run, at); err != nil {
		return err
	}
	level := levelOf(i, n)
	f.note(st, 0, f.share(r.count()-1, level)-f.share(r.count(), level))
	return nil
}

// found returns the error of Delete.
func found(ok bool) error {
	if ok {
		return nil
	}
	return errNotFound
}

// gather returns the bits of the keys of block i among n, those in the inbox
// included. The caller holds the stripe.
func (f *Filter) gather(st *stripe, i, n uint64) (bits block) {
	if r := f.store.ref(i); r.count() > 0 {
		bits.collect(f.store.run(r), r.count(), f.store.geometry, f.rounds)
	}
	for _, mixed := range st.inbox.list(st.waiting) {
		if f.place(mixed, n) == i {
			bits.mark(f.fingerprint(mixed), f.rounds)
		}
	}
	return bits
}
