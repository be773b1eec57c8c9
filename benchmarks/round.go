package main

import (
	"runtime"
	"slices"

	"github.com/everbloom-go/everbloom/internal/timing"
)

// writes tells whether there are inserts and deletes in a round. They come in the last rounds,
// so that rounds without them find the sets as they were built.
func (a *arena) writes(round int) bool { return round >= a.rounds-a.fillsFor(a.request.n) }

// round lets every entrant take its turn once. One that falls is skipped from then on.
func (a *arena) round(round int) {
	a.keys.hits(a.hits, a.nextSalt())
	a.keys.misses(a.misses, a.nextSalt())
	first := round * len(a.entrants) / a.rounds
	turn := slices.Concat(a.entrants[first:], a.entrants[:first])
	for _, e := range turn {
		runtime.GC()
		e.try(func() error { return a.fillTurn(e, a.writes(round)) })
	}
	runtime.GC()
	a.asks(turn)
	if !a.writes(round) {
		return
	}
	for _, e := range turn {
		e.try(func() error { return a.deletes(e, e.rows[0]) })
	}
}

// try does a piece of e's work, unless it has fallen, and takes it out if it fails.
func (e *entrant) try(work func() error) {
	if e.fallen {
		return
	}
	if err := safely(work); err != nil {
		e.drop(err.Error())
	}
}

// fillTurn measures the inserts of e, if it is time for them, and leaves it full.
func (a *arena) fillTurn(e *entrant, writes bool) error {
	for _, row := range e.rows {
		if writes && row.Skipped == "" && (row.Threads == 1 || e.traits.has(manyAdders)) {
			if err := a.inserts(e, row); err != nil {
				return err
			}
		}
	}
	if e.dirty {
		_, err := a.refill(e, addOne, 1)
		return err
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

// slicesOfPass is into how many pieces the time for a lookup is cut. Every entrant has a piece, and
// then every entrant the next: the speed of a shared machine drifts from one tenth of a second to
// the next, and so it drifts for all.
const slicesOfPass = 20

// A lane is one way in which one entrant answers, and the time it took so far.
type lane struct {
	entrant *entrant
	row     *result
	op      op
	has     way
	sum     tally
}

// asks measures hits and misses of all entrants, one key at a time and in batches, side by side.
func (a *arena) asks(turn []*entrant) {
	for row := range a.threads {
		lanes := lanesOf(turn, row, hit)
		a.race(lanes, a.hits)
		for _, l := range lanes {
			if !l.entrant.fallen {
				a.expect(l.entrant, string(l.op), l.sum)
			}
		}
		a.race(lanesOf(turn, row, miss), a.misses)
	}
}

// lanesOf returns the ways in which the entrants answer o.
func lanesOf(turn []*entrant, row int, o op) (lanes []*lane) {
	for _, e := range turn {
		r := e.rows[row]
		if e.fallen || r.Skipped != "" {
			continue
		}
		lanes = append(lanes, &lane{entrant: e, row: r, op: o, has: hasOne})
		for _, size := range batchSizes {
			if e.set.batch != nil && e.set.batch(size).has != nil {
				lanes = append(lanes, &lane{entrant: e, row: r, op: o.inBatches(size), has: hasBatch(size)})
			}
		}
	}
	return lanes
}

// race lets all lanes ask for the same keys, piece by piece, and records their times.
func (a *arena) race(lanes []*lane, keys block) {
	for piece := range slicesOfPass {
		from := keys.len() / slicesOfPass * piece
		for _, l := range lanes {
			l.entrant.try(func() error {
				l.sum.merge(lookups(l.entrant.set, l.has, keys, from, l.row.Threads, a.pass/slicesOfPass))
				return nil
			})
		}
	}
	for _, l := range lanes {
		if !l.entrant.fallen {
			l.row.record(l.op, l.sum)
		}
	}
}

// deletes measures taking half of the keys away, or as many as a window holds. Those that
// stay must still be there.
func (a *arena) deletes(e *entrant, row *result) error {
	if e.set.del == nil || row.Threads != 1 {
		return nil
	}
	half := min(a.request.n/2, uint64(a.windows[0].len()))
	var sum tally
	for sum.elapsed < a.pass && half > 0 {
		if e.dirty {
			if _, err := a.refill(e, addOne, 1); err != nil {
				return err
			}
		}
		o, before := a.nextOrder(), mallocs()
		t := walk(e.set.del, a.keys, o, half, a.windows[0], timing.Thread)
		e.dirty = true
		e.facts.Allocs[remove] = perKey(mallocs()-before, t.keys)
		a.expect(e, "deleting", t)
		if sum.keys == 0 {
			a.expect(e, "after deleting others", walk(e.set.has, a.keys, o, min(half, a.request.n-half), a.windows[0], timing.Thread))
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
