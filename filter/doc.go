// Package filter is the vocabulary of everbloom: keys, hashes, and what a
// filter can do.
//
// A filter remembers a set of keys in little memory. Asked about a key it
// answers "maybe" or "no", and a no is certain: a key that is in the set is
// never denied. How often an absent key gets a "maybe" is the false-positive
// rate, FPR for short.
//
// # Keys
//
// Filters take a [Key], 64 bits that a [Hash] made from the caller's bytes.
// Hashing stands outside so that one hash serves many filters and so that a
// log of changes needs 8 bytes per operation whatever the keys are:
//
//	var h filter.Hash // XXH3, seed 0
//	f.Add(h.String("hello"))
//	f.MayContain(h.Bytes([]byte("hello"))) // true: the same Key
//
// Every promise is about Keys. Two user keys with equal hashes are one Key,
// and deleting one deletes the other. Among n keys the odds that any two
// coincide are about n²/2^65, which is 7e-5 for 50 million keys, and a rate
// below n/2^64 cannot be had. An adversary that chooses keys can also construct
// coincidences for a hash without a secret: hostile input needs [NewSipHash].
//
// # Abilities
//
// Every kind is a [Filter]. What else it can do is found by asking for one of
// the optional interfaces, [Deleter], [Merger], [Resizer], [Batcher],
// [Snapshotter], [Concurrent], or by calling the function of the same name
// ([Delete], [Union], [AddBatch], …), which uses the ability where it exists
// and otherwise falls back or answers with an error that wraps
// [errors.ErrUnsupported].
//
// # Compatibility
//
// What a Hash gives for a seed, what a mixer gives for a salt, and the file
// formats of all kinds never change. A release reads every file that an
// earlier one wrote.
package filter
