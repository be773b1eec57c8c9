package main

import (
	"fmt"
	"slices"
	"strings"
)

// A contender is one row of the tables: something that can be built for a request.
type contender struct {
	name   string
	module string // where it comes from; empty for what is part of this program
	traits trait
	peak   float64 // generous bits per key while it is built, for the memory budget; not 0
	build  func(request) (set, error)
}

// A request is what every contender is asked for.
type request struct {
	n    uint64
	fpr  float64
	size int // bytes per key
}

// A trait is something the harness must know to be fair to a contender and to its readers.
type trait uint

const (
	mayMiss    trait = 1 << iota // answers no to some present keys, by design
	static                       // built at once from all keys; insert is the build time per key
	loneReader                   // not even two concurrent lookups are safe
	manyAdders                   // promises that concurrent inserts are safe
	noFilter                     // answers nothing; there for its time only
	short                        // takes part in -short
)

func (t trait) has(u trait) bool { return t&u != 0 }

// String says what a reader must know.
func (t trait) String() string {
	var parts []string
	if t.has(mayMiss) {
		parts = append(parts, "may miss keys")
	}
	if t.has(static) {
		parts = append(parts, "static")
	}
	return strings.Join(parts, ", ")
}

// A set is a contender that has been built. Its functions run over a whole block, so that the
// call into the filter inside them is a direct one, as in a user's program: an interface or a
// closure in between would cost about as much as a fast filter's whole work.
type set struct {
	add    func(block) int // returns how many were accepted
	has    func(block) int // returns how many may be present
	del    func(block) int // returns how many were found; nil if it cannot delete
	finish func() error    // called once after the last add; nil if nothing is left to do
	reset  func()          // empties it for another fill; nil if a new one must be built
	bits   func() uint64   // what it says it takes; nil if it does not say
	batch  func(int) batch // its batch calls, for batches of so many keys; nil if it has none
}

// A batch holds add and has of a set by way of its batch calls. It owns scratch memory, so two
// goroutines must not share one.
type batch struct {
	add func(block) int
	has func(block) int // nil if only adding comes in batches
}

// addAll gives every key to add and returns their number. Like count it is small enough to be
// inlined, and then its argument, a function literal, is inlined too.
func addAll(b block, add func([]byte)) int {
	for d := b.data; len(d) >= b.size; d = d[b.size:] {
		add(d[:b.size:b.size])
	}
	return b.len()
}

// count returns for how many keys yes is true.
func count(b block, yes func([]byte) bool) (n int) {
	for d := b.data; len(d) >= b.size; d = d[b.size:] {
		if yes(d[:b.size:b.size]) {
			n++
		}
	}
	return n
}

// runs gives the keys to work, size at a time.
func runs(b block, size int, work func(run block)) {
	for lo := 0; lo < b.len(); lo += size {
		work(b.slice(lo, min(lo+size, b.len())))
	}
}

// contenders returns all of them, in the order of the tables.
func contenders() []contender {
	return slices.Concat(references, ownContenders, bloomRivals, boomRivals, cuckooRivals, staticRivals)
}

// byName returns the contender of that name.
func byName(all []contender, name string) (contender, error) {
	i := slices.IndexFunc(all, func(c contender) bool { return c.name == name })
	if i < 0 {
		return contender{}, fmt.Errorf("no contender is called %q; -list shows their names", name)
	}
	return all[i], nil
}

// bitsAsked is for contenders that are sized in bits per key: they are given what is known to
// be right for the two usual rates, and take no part in tables of another rate.
func bitsAsked(fpr float64, at1percent, at1permille int) (int, error) {
	switch fpr {
	case 0.01:
		return at1percent, nil
	case 0.001:
		return at1permille, nil
	}
	return 0, fmt.Errorf("is sized in bits per key, and those for a rate of %g are not known here", fpr)
}
