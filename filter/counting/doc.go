// Package counting is the counting Bloom filter: a Bloom filter with a small
// counter in place of each bit, so that keys can be deleted.
//
// [Sum] and [dlCBF06] Sec. 2.1 describe it.
//
// The idea: a bit of a Bloom filter may belong to many keys, so it is unknown
// whether it may be cleared. A counter knows how many they are. Adding a key
// counts its k counters up, deleting counts them down, asking looks whether all
// are above zero. The positions are those of a bloom.Filter with as many bits,
// and so are the answers; the price is four times the memory.
//
// # Memory
//
//	         ┌──────────────────────┬───────────────────┐
//	key ─────┤ h, h·c, h·c², …      ├──> h·cⁱ·m >> 64   │
//	         v           v          v
//	0 0 0 1 0 0 0 2 0 0 1 0 0 0 1 0 3 0 0 0 0 0 1 0 0 0    m counters of 4 bits
//	└────────── 16 in a word ─────┘
//
// # Operations
//
// Add counts the key's positions up. A key whose positions coincide counts one
// counter twice. MayContain tests the positions as a Bloom filter does. Keys are
// counted: one that was added twice must be deleted twice.
//
// Delete counts down. If a position is at zero, or has less than the key would
// take from it, the key is certainly absent: Delete answers ErrNotFound and
// nothing has changed. Deleting each key at most as often as it was added never
// loses another.
//
// DELETING A KEY THAT IS NOT IN THE SET DOES HARM if it happens to be a false
// positive: it takes counts that belong to other keys, and these may be lost
// from then on. The filter cannot notice, neither in Delete nor later. Callers
// a program that cannot be sure must keep the keys elsewhere or take another kind.
//
// A counter that reaches its top, 15 for 4 bits, is saturated: it no longer knows
// its true number. It stays there for good, through all Adds and Deletes, so
// that no key is ever lost because of it. Its position counts as set from then
// on, which raises the rate a little. Info tells how many there are.
//
// Union adds the counters, saturating, and gives the filter that all keys of both
// would have given. Each key may be deleted as often as it was added to either.
//
// Intersect takes the smaller of two counters. What it promises is about the
// common keys, each as often as in the operand that has fewer of it: these are
// never lost, and as many Deletes of them succeed and do no harm. For at every
// position each operand counts at least them, hence so does the smaller; Add and
// Delete then change both sides alike; and a saturated counter yields to the other
// one only, which counts enough. Above that a counter may count keys of one operand
// only. They are left over: they raise the rate, they can make a common key look
// present after its last Delete, and nothing takes them out again. Keys that were in
// one operand only must not be deleted. Both merges need equal shapes.
//
// Bloom gives the plain filter, for programs that only ask.
//
// # Invariants
//
// A counter is saturated, or it is at least the number of times that the keys in
// the set count it, and exactly that if there was no intersection. No counter
// goes below zero or above its top. The numbers of counters above zero and of
// saturated ones are true. The number of keys is Adds less Deletes, and the sum
// over a union; after an intersection it is unknown, and Info gives an estimate,
// until an intersection with an empty filter leaves nothing. Bits behind the last
// counter stay clear.
//
// # Costs
//
// 4 times the bits of a Bloom filter: 38.3 per key for 1 %, 57.5 for 0.1 %. All
// are read by queries. Every operation touches k counters, each a cache miss in
// a large filter, though they overlap; none allocates.
//
// # How wide a counter
//
// With 4 bits and keys that are added once, a counter saturates with probability
// 1.6e-15, and in a set that is always full and always
// changing one Add in 4e12 makes it happen. With 8 bits each key may be
// added some 20 times. With 2 bits 3.3 % of all counters are saturated as soon as
// the filter is full, and while keys come and go that grows without end, until
// everything is answered with yes: take 2 bits only for sets that are filled
// once and from which a few keys are deleted.
//
// # Concurrency
//
// Any number of goroutines may ask at the same time. A goroutine that changes a filter
// must be alone with it; everbloom.Set sees to that.
//
// # When to take another kind
//
// Package dleft does the same in less than half the memory at equal rates under
// 2 %, up to a fixed number of keys. Without deletes take package bloom, which needs a quarter.
//
// # Departures from the papers
//
// The papers do not say what happens at the top of a counter; the overflow of
// [dlCBF06] Sec. 5.1 is the 16th key, while here a counter sticks at 15. Merges are
// this library's. See package bloom for the hashing.
//
// # Symbols
//
//	here                    [Sum]       [dlCBF06]
//	n  Config.Items         n           m
//	m  Shape.Counters       m           n = cm
//	k  Shape.Hashes         k           k
//	f  Config.FPR           P           f
package counting
