package main

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

// These are variables for the tests, which look at no times and need not do so much.
var (
	bufferKeys         = 1 << 20 // keys in a buffer at most; see the package comment
	weighedKeys uint64 = 500_000 // keys in all copies of a small set that are weighed together
)

// An arena is where contenders meet over one set of keys, alive at the same time.
type arena struct {
	options
	request request
	keys    keyspace

	entrants     []*entrant
	windows      []block // keys to be added or deleted, one for each thread
	hits, misses block   // keys to be asked, new in each round
	salt         uint64  // of the last permutation or buffer

	broken []string // promises that were not kept
}

// An entrant is a contender that takes part.
type entrant struct {
	contender
	set   set
	rows  []*result // one for each number of threads
	facts *facts
	dirty bool // keys have been deleted from it

	fallen bool // it failed, and takes no part any more
}

// newArena makes the buffers, so that every contender finds the same memory taken.
func newArena(w request, opts options) *arena {
	a := &arena{
		options: opts, request: w, keys: keyspace{n: w.n, size: w.size, seed: opts.seed},
		hits: newBlock(bufferKeys, w.size), misses: newBlock(bufferKeys, w.size),
	}
	for range slices.Max(opts.threads) {
		a.windows = append(a.windows, newBlock(int(min(w.n, uint64(bufferKeys))), w.size))
	}
	return a
}

// nextSalt is different with each call, and the same in each run of the program.
func (a *arena) nextSalt() uint64 { a.salt++; return a.salt }

// nextOrder returns a new permutation of the keys.
func (a *arena) nextOrder() *order { return newOrder(a.request.n, a.nextSalt()) }

// empty makes the set of e ready to be filled.
func (a *arena) empty(e *entrant) (err error) {
	e.dirty = true
	if e.set.reset != nil {
		e.set.reset()
		return nil
	}
	// The old one must be gone before the new one is made, or a large set would be there twice
	// and the new one in memory that has never been touched.
	e.set = set{}
	if a.request.n >= 500_000 {
		runtime.GC()
	}
	ownPages(e.contender, a.request.n)
	e.set, err = e.build(a.request)
	return err
}

// refill empties the set of e and adds all keys.
func (a *arena) refill(e *entrant, add way, threads int) (tally, error) {
	if err := a.empty(e); err != nil {
		return tally{}, err
	}
	t, err := fill(e.set, add, a.keys, a.nextOrder(), a.windows[:threads])
	e.dirty = false
	if e.traits.has(noFilter) {
		return t, err
	}
	e.facts.Refused = max(e.facts.Refused, t.keys-t.yes)
	return t, err
}

// expect reports a broken promise if work over present keys did not find all of them. Keys that
// a filter refused, and said so, are not promised, nor are those it may miss keys by design.
func (a *arena) expect(e *entrant, what string, t tally) {
	if t.yes == t.keys || e.traits.has(mayMiss|noFilter) || e.facts.Refused > 0 {
		return
	}
	a.broken = append(a.broken, fmt.Sprintf("FALSE NEGATIVES: %s, n = %s, asked %s: %s: %d of %d present keys not found",
		e.name, quantity.Round(float64(a.request.n)), quantity.Rate(a.request.fpr), what, t.keys-t.yes, t.keys))
}

// safely turns a panic of a contender into an error: one that falls must not take the others
// along.
func safely(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panics: %v", p)
		}
	}()
	return work()
}
