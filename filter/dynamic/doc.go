// Package dynamic is the dynamic Bloom filter: a list of equal filters that grows
// with the set, and shrinks with it.
//
// [DBF10] is its paper; [DPBF19] App. A and [EBF21] Sec. 2.2 describe it, and
// Par-BF, its parallel form. See docs/papers/dbf10.md.
//
// The idea: it need not be known how many keys there will be. Keys go to the last
// filter of the list, the active unit. When that is full, so that more keys would
// take its rate above the asked one, an empty unit is appended. A key may be in any
// unit, so that a query asks all of them, and each adds its share of false
// positives: after ten times the keys the rate is ten times that of one unit, and so
// is the time of a query.
//
// # Memory
//
//	          unit 0            unit 1            unit 2, active
//	key ──┬─> 0 1 0 0 2 0 1 0   1 0 0 1 1 0 0 3   0 0 1 0 0 0 0 0    m counters each
//	      │     ^     ^   ^       ^     ^   ^       ^     ^   ^
//	      └─────┴─────┴───┴───────┴─────┴───┴───────┴─────┴───┘
//	         the same k positions in every unit, computed once
//
// Units are counting filters, or with Config.CounterBits of 1 plain Bloom filters:
// these take a quarter of the memory and cannot delete.
//
// # Operations
//
// Add puts the key into the active unit, and looks at no other: it takes the same
// time however long the list is. A unit is full by its set positions, not by
// counted Adds, so that adding a key again fills nothing as long as the key's unit
// is the active one. Once another unit is active, a copy goes there like a new key:
// it takes room, and the key is pinned.
//
// MayContain asks the units, newest first. Delete does, too. If exactly one unit
// answers yes, the key is deleted from it, which is safe: a unit always finds a key
// that it has, so the one that answers is the one that has it. If several answer,
// because the key was added to several or by chance, it is unknown which unit has
// it, and deleting it from another would harm the keys there: ErrPinned. If none
// does, the key is absent: ErrNotFound. Neither changes anything. [Pinned] tells how
// many keys are pinned by chance, 0.1 % for each further unit of that rate; they may
// become deletable as the list gets shorter. Copies are counted, up to what package
// counting says, and as many Deletes are owed as there were Adds. As there, DELETING A
// KEY THAT IS NOT IN THE SET DOES HARM if it is a false positive.
//
// Deleting also keeps the list short. A unit without keys is dropped, and with it
// whatever saturated counters it had. A unit that is less than half full is merged
// with the thinnest other one, counter by counter, if both fit into three quarters
// of a unit; and the thinnest unit, if it is less than half full, becomes the active
// one before a new one is made. No merge takes a unit beyond its rate.
//
// Union joins the lists, and merges units that fit into one. Keys of both operands
// are there twice, and pinned unless their units were merged. There is no
// intersection.
//
// # Par-BF
//
// [Parallel] splits the keys by a hash over several lists, each with its own lock.
// Changes of different lists run side by side, and so do all queries. A query asks
// one list, so that p lists of the same units have a p-th of the rate and of the
// time. Info and Snapshot look at list after list: each is as it was at one moment,
// not all at the same one.
//
// # Invariants
//
// No unit has more positions set than Shape.Full, so that its rate is at most the
// asked one. There is at least one unit; none but the active one is without keys.
// Every key that was added and not deleted is in one unit as often as it was added
// there.
//
// # Costs
//
// Bits per key are those of package counting (or bloom) at the rate of a unit, when
// units are full. A query of an absent key reads four to five cache lines in each
// unit ([Shape.Predict]) and takes some 5 ns for each that is in the cache; a hit
// finds its unit half way through the list. Nothing allocates but a new unit, Union
// and Snapshot. Merging two units takes time in proportion to their size, and happens
// at most once for a quarter of a unit's keys that come or go. Batches are no faster
// than single calls, so that there is no form of their own for them.
//
// # Concurrency
//
// Any number of goroutines may ask a [Filter] at the same time; a goroutine that changes it
// must be alone with it, and everbloom.Set sees to that. A [Parallel] needs no locks
// from outside.
//
// # When to take another kind
//
// When the rate must hold while the set grows: scalable without deletes, evergreen
// with them. When keys are added again and again: copies in several units are pinned
// and fill the list.
//
// # Departures from the papers
//
// Units are full by set positions and keep strictly to their rate. Thin units are
// merged by a rule with room to spare, or used again. In Par-BF every list has a lock,
// not a thread. Theorem A.1 has its own remarks in docs/papers/dbf10.md.
//
// # Symbols
//
//	m    Shape.Positions    k  Shape.Hashes        f_t  Config.FPR
//	n_t  Config.Items and Shape.Capacity           alpha  keys/n_t
package dynamic
