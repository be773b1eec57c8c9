package evergreen

// add adds a mixed key.
func (t *table) add(mixed uint64) (added bool, err error) {
	t.expectBlock(mixed)
	if err := t.prepare(); err != nil {
		return false, err
	}
	st := t.stripes.of(addressOf(mixed))
	st.Lock()
	added, err = t.insert(st, mixed)
	st.Unlock()
	return added, err
}

// prepare has the table grow if that is due, before anything else is changed.
func (t *table) prepare() error {
	if t.keys.Load() >= t.capacity {
		return errLimit
	}
	if t.sum.Load() > t.limit.Load() {
		return t.catchUp()
	}
	return nil
}

// insert adds a mixed key. The caller holds st. The run is looked at only if all bits of the key are set, or if there is no inbox.
func (t *table) insert(st *stripe, mixed uint64) (added bool, err error) {
	if t.gone != inUse {
		return false, t.gone.err()
	}
	n := t.load().blocks()
	ready, err := t.openInbox(st, n)
	if err != nil {
		return false, err
	}
	i, fp := t.place(mixed, n), t.fingerprint(mixed)
	line := t.lines.at(i)
	if ready && line.add(fp, t.rounds) {
		st.inbox[st.waiting] = mixed
		st.waiting++
		t.note(st, 1, 0)
		return true, nil
	}
	there := line.has(fp, t.rounds)
	if there && t.full && (t.find(st, mixed) >= 0 || t.seek(i, fp) >= 0) {
		return false, nil
	}
	if err := t.push(st, t.store.slot(i), i, fp, n); err != nil {
		return false, err
	}
	line.add(fp, t.rounds)
	t.note(st, 1, 0)
	return t.full || !there, nil
}

// seek returns the place of a fingerprint in the run of a block, or -1. The caller
// holds the stripe.
func (t *table) seek(block, fingerprint uint64) int {
	r := t.store.ref(block)
	if r.count() == 0 {
		return -1
	}
	return t.store.find(t.store.run(r), r.count(), fingerprint)
}

// sparseAt is how many keys of a stripe are so few that the whole table may have few.
const sparseAt = 2

// delete deletes a mixed key, and reports whether few keys are left in its stripe.
func (t *table) delete(mixed uint64) (sparse bool, err error) {
	t.expectKey(mixed)
	st := t.stripes.of(addressOf(mixed))
	st.Lock()
	err = t.remove(st, mixed)
	sparse = st.keys <= sparseAt
	st.Unlock()
	if err == nil {
		t.relax()
	}
	return sparse, err
}

// remove deletes a mixed key. The caller holds st. Each word of the
// block gets its final value at once: bits of other keys are never clear.
func (t *table) remove(st *stripe, mixed uint64) error {
	if t.gone != inUse {
		return t.gone.err()
	}
	n := t.load().blocks()
	i, fp := t.place(mixed, n), t.fingerprint(mixed)
	line := t.lines.at(i)
	if !line.has(fp, t.rounds) {
		return errNotFound
	}
	bits := newOwn(fp, t.rounds)
	if t.recall(st, mixed, n, &bits) {
		fp = nothing // it had not come to its run yet
	}
	if err := t.drop(st, i, n, fp, &bits); err != nil {
		return err
	}
	rest := *line
	bits.clear(&rest)
	line.store(&rest)
	t.note(st, -1, 0)
	return nil
}

// drop takes a fingerprint, unless it is nothing, out of the run of block i among n,
// notes the rate, and has the other fingerprints share bits.
func (t *table) drop(st *stripe, i, n, fingerprint uint64, bits *own) error {
	slot := t.store.slot(i)
	r := ref(*slot)
	if r.count() == 0 {
		return found(fingerprint == nothing)
	}
	run := t.store.run(r)
	at := bits.shareAll(run, r.count(), t.store.geometry, fingerprint)
	if at < 0 {
		return found(fingerprint == nothing)
	}
	if err := t.store.drop(slot, i, run, at); err != nil {
		return err
	}
	level := levelOf(i, n)
	t.note(st, 0, t.share(r.count()-1, level)-t.share(r.count(), level))
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
func (t *table) gather(st *stripe, i, n uint64) (bits block) {
	if r := t.store.ref(i); r.count() > 0 {
		bits.collect(t.store.run(r), r.count(), t.store.geometry, t.rounds)
	}
	for _, mixed := range st.inbox.list(st.waiting) {
		if t.place(mixed, n) == i {
			bits.mark(t.fingerprint(mixed), t.rounds)
		}
	}
	return bits
}
