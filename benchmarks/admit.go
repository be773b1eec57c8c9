package main

import (
	"runtime"
	"time"

	"github.com/everbloom-go/everbloom/internal/timing"
)

// verified is how many present keys are asked for once, before the rounds, at most. The rounds
// check all they ask as well.
const verified = 1 << 22

// patience is how long that may take: some contenders need a tenth of a millisecond for each.
const patience = 5 * time.Second

// admit builds and fills a contender, establishes its facts and lets it take part.
func (a *arena) admit(c contender) (*entrant, error) {
	e := &entrant{contender: c, facts: &facts{Allocs: map[op]float64{}}, dirty: true}
	err := safely(func() error {
		if err := a.weigh(e); err != nil {
			return err
		}
		if !c.traits.has(noFilter) {
			a.verify(e)
			a.probe(e)
		}
		b := a.hits.slice(0, min(int(a.request.n), 4*chunk, a.hits.len()))
		a.keys.hits(b, a.nextSalt())
		before := mallocs()
		e.set.has(b)
		e.facts.Allocs[hit] = perKey(mallocs()-before, b.len())
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.entrants = append(a.entrants, e)
	return e, nil
}

// weigh builds and fills the set of e and measures what that does to the heap. Of small
// sets it makes several, and keeps one. What a package makes once for all its filters is not
// counted: a tiny set has called for it before.
func (a *arena) weigh(e *entrant) error {
	tiny := keyspace{n: min(a.request.n, 1000), size: a.request.size}
	if err := a.newSet(e, tiny); err != nil {
		return err
	}
	e.set, e.facts.Refused = set{}, 0
	copies := copiesFor(a.request.n, e.peak)
	sets := make([]set, copies)
	before := liveHeap()
	for i := range sets {
		if err := a.newSet(e, a.keys); err != nil {
			return err
		}
		sets[i] = e.set
	}
	grown := max(0, liveHeap()-before)
	runtime.KeepAlive(sets)
	keys := float64(a.request.n)
	e.facts.Bits = float64(grown) * 8 / float64(copies) / keys
	if e.set.bits != nil {
		e.facts.Says = float64(e.set.bits()) / keys
	}
	return nil
}

// copiesFor returns how many sets to weigh together: enough that a few stray kilobytes do not
// show, and no more than a quarter of a gigabyte.
func copiesFor(n uint64, peak float64) int {
	fit := (1 << 28) / (peak * float64(n) / 8)
	return int(max(1, min(64, float64(weighedKeys/n), fit)))
}

// newSet gives e a new set, filled with the keys, and counts the allocations of filling it.
func (a *arena) newSet(e *entrant, keys keyspace) (err error) {
	ownPages(e.contender, keys.n)
	if e.set, err = e.build(request{keys.n, a.request.fpr, keys.size}); err != nil {
		return err
	}
	o, before := newOrder(keys.n, a.nextSalt()), mallocs()
	t := walk(e.set.add, keys, o, keys.n, a.windows[0], timing.Thread)
	if e.set.finish != nil {
		err = e.set.finish()
	}
	e.facts.Allocs[insert] = perKey(mallocs()-before, t.keys)
	if !e.traits.has(noFilter) {
		e.facts.Refused = max(e.facts.Refused, t.keys-t.yes)
	}
	e.dirty = false
	return err
}

// verify asks for present keys, all of them unless there are very many.
func (a *arena) verify(e *entrant) {
	t, o := tally{clock: timing.Thread}, a.nextOrder()
	window := a.windows[0].slice(0, min(a.windows[0].len(), 4*chunk))
	for n := int(min(a.request.n, verified)); t.keys < n && t.elapsed < patience; {
		b := window.slice(0, min(window.len(), n-t.keys))
		a.keys.present(b, o)
		t.time(e.set.has, b)
	}
	e.facts.Missed = float64(t.keys-t.yes) / float64(t.keys)
	a.expect(e, "after filling", t)
}

// probe asks for absent keys and counts the false positives.
func (a *arena) probe(e *entrant) {
	for e.facts.Probes < a.probes {
		b := a.misses.slice(0, min(a.probes-e.facts.Probes, a.misses.len()))
		a.keys.misses(b, a.nextSalt())
		e.facts.Positive += e.set.has(b)
		e.facts.Probes += b.len()
	}
}

func perKey(count uint64, keys int) float64 { return float64(count) / float64(keys) }

// liveHeap returns the bytes in use after everything that can be freed is free. Pools give up
// their contents at the second collection only.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// mallocs returns the number of allocations so far.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
