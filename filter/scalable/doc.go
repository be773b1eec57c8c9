// Package scalable is a Bloom filter for sets of unknown size that keeps its rate:
// a list of units that grow.
//
// [DBF10]'s page has the scalable filters as [EBF21] Sec. 2.2 describes them.
//
// The idea: when a filter has the keys it was made for, begin another one, twice
// as large, and ask both. Each unit adds its own false positives, so that each gets
// a lower rate than the one before, in such a way that all of them, however many
// there will be, add up to the asked rate at most.
//
// # Memory
//
//	unit 0            unit 1                      unit 2, active
//	n keys at f/3     2n keys at f/6              4n keys at f/10                    …
//	[][][][]          [][][][][][][][][][]        [][][][][][][][][][][][][][][][][][]
//	   ^                    ^                                 ^
//	   └────── key: one block of 512 bits in each unit ───────┘
//
// Units are blocked filters (package bloom), which keep all bits of a key in one
// cache line: a query reads one line for each unit that it asks.
//
// # Operations
//
// MayContain asks the newest unit first: half of the keys or more are in the last
// two. Add asks, too, and leaves out a key that some unit answers for already: it
// will be answered with yes for ever, since nothing is deleted. So adding again
// changes nothing, and every key that is counted is a different one. A unit is full
// after exactly the keys it was made for, and the number of units follows from the
// number of keys. There are no deletes and no merges.
//
// # The rate
//
// Unit i has the rate 2f/((i+2)(i+3)): f/3, f/6, f/10, f/15 and so on.
// The first s units add up to f·s/(s+2), which is below f for any s.
// That is a bound for the expected rate of the whole, whatever the units have to do
// with each other. The rate of a single filter scatters, the more the fewer blocks its
// units have, so that a unit is made large enough for four standard deviations more
// than its mean. That leaves long odds, not none: no filter above f was seen
// among 30,000 small ones at 1 %, 0.1 % and 0.01 %, and two among 10,000 at 0.0001 %. One
// that grew from 1,000 to 10 million keys at 0.1 % was measured at 0.0495 %, where the sum
// of the units' bounds is 0.0875 %.
//
// # Invariants
//
// All units but the last have exactly as many keys as they were made for. No unit
// has more.
//
// # Costs
//
// Bits per key, when all units are full, for a first unit of n keys, and when the next
// unit is there, too, and still empty:
//
//	                  n = 1,048,576                n = 1,000
//	keys     units    at 1 %       at 0.1 %       at 1 %       at 0.1 %
//	n            1    12.6, 41.3   19.2, 62.4     14.0, 45.4   21.4, 69.4
//	3n           2    13.8, 34.8   20.8, 51.4     15.1, 37.6   23.1, 56.3
//	15n          4    16.0, 35.2   23.1, 49.9     17.0, 36.8   24.9, 52.9
//	255n         8    19.7, 41.1   26.6, 54.7     20.1, 41.7   27.4, 55.9
//	16383n      14    23.0, 46.7   30.1, 61.2     23.1, 46.9   30.3, 61.4
//	                  a blocked filter of the right size: 10.1 and 15.7
//
// So a new unit makes it 3.3 times as much after the first, 2.5 times after the second,
// and a little more than twice after the later ones; [Shape.Predict] tells for any number
// of keys. A query of an absent key reads as many cache lines as there are units, one of
// a present key about two. Nothing allocates but a new unit and Snapshot. Batches pay from
// about a megabyte on. An Add that brings a new unit takes the time to clear it.
//
// # Concurrency
//
// Any number of goroutines may ask at the same time. A goroutine that changes a filter must
// be alone with it; everbloom.Set sees to that.
//
// # When to take another kind
//
// When the number of keys is known: blocked is faster and takes half the memory.
// When keys must be deleted, or sets merged.
//
// # Departures from the papers
//
// They say that the rate of scalable filters goes on growing; with rates that fall
// in this way it does not. The schedule is not of the paper: a geometric one such as f/2, f/4,
// f/8, … would take 38 bits per key instead of 23 after 14 units at 1 %.
//
// # Symbols
//
//	n  Config.Items, keys of the first unit     f  Config.FPR     s  Filter.Units
package scalable
