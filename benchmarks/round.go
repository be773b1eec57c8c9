package main

import "runtime"

// writes tells whether there are inserts and deletes in a round. They come in the last rounds,
// so that rounds without them find the sets as they were built.
func (a *arena) writes(round int) bool { return round >= a.rounds-a.fills }

// round lets everyone take its turn once. Those who fall are skipped from then on.
func (a *arena) round(round int) {
	a.keys.hits(a.hits, a.nextSalt())
	a.keys.misses(a.misses, a.nextSalt())
	first := round * len(a.entrants) / a.rounds
	for i := range a.entrants {
		e := a.entrants[(first+i)%len(a.entrants)]
		if e.fallen {
			continue
		}
		runtime.GC()
		if err := safely(func() error { return a.turn(e, a.writes(round)) }); err != nil {
			e.drop(err.Error())
		}
	}
}

// turn measures everything that e can do.
func (a *arena) turn(e *entrant, writes bool) error {
	for _, row := range e.rows {
		if row.Skipped != "" {
			continue
		}
		if writes && (row.Threads == 1 || e.traits.has(manyAdders)) {
			if err := a.inserts(e, row); err != nil {
				return err
			}
		}
		if e.dirty {
			if _, err := a.refill(e, addOne, 1); err != nil {
				return err
			}
		}
		a.asks(e, row)
	}
	if writes && e.set.del != nil && e.rows[0].Threads == 1 {
		return a.deletes(e, e.rows[0])
	}
	return nil
}

// inserts measures filling the set, one key at a time and in batches. The last fill stays.
func (a *arena) inserts(e *entrant, row *result) error {
	if e.set.batch != nil {
		for _, size := range batchSizes {
			if err := a.insertsBy(addBatch(size), insert.inBatches(size), e, row); err != nil {
				return err
			}
		}
	}
	return a.insertsBy(addOne, insert, e, row)
}

func (a *arena) insertsBy(add way, o op, e *entrant, row *result) error {
	var sum tally
	for sum.elapsed < a.pass {
		t, err := a.refill(e, add, row.Threads)
		if err != nil {
			return err
		}
		sum.merge(t)
	}
	row.record(o, sum)
	return nil
}

// asks measures hits and misses, one key at a time and in batches.
func (a *arena) asks(e *entrant, row *result) {
	a.asksBy(hasOne, hit, miss, e, row)
	if e.set.batch == nil {
		return
	}
	for _, size := range batchSizes {
		if e.set.batch(size).has != nil {
			a.asksBy(hasBatch(size), hit.inBatches(size), miss.inBatches(size), e, row)
		}
	}
}

func (a *arena) asksBy(has way, hit, miss op, e *entrant, row *result) {
	t := lookups(e.set, has, a.hits, row.Threads, a.pass, a.clock)
	a.expect(e, string(hit), t)
	row.record(hit, t)
	row.record(miss, lookups(e.set, has, a.misses, row.Threads, a.pass, a.clock))
}

// deletes measures taking half of the keys away, or as many as a window holds. Those that
// stay must still be there.
func (a *arena) deletes(e *entrant, row *result) error {
	half := min(a.wish.n/2, uint64(a.windows[0].len()))
	var sum tally
	for sum.elapsed < a.pass && half > 0 {
		if e.dirty {
			if _, err := a.refill(e, addOne, 1); err != nil {
				return err
			}
		}
		o, before := a.nextOrder(), mallocs()
		t := walk(e.set.del, a.keys, o, half, a.windows[0], a.clock)
		e.dirty = true
		e.facts.Allocs[remove] = perKey(mallocs()-before, t.keys)
		a.expect(e, "deleting", t)
		if sum.keys == 0 {
			a.expect(e, "after deleting others", walk(e.set.has, a.keys, o, min(half, a.wish.n-half), a.windows[0], a.clock))
		}
		sum.merge(t)
	}
	row.record(remove, sum)
	return nil
}

// drop takes e out of all tables and lets go of its memory.
func (e *entrant) drop(why string) {
	for _, row := range e.rows {
		row.Skipped = why
	}
	e.fallen, e.set = true, set{}
}
