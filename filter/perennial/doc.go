// Package perennial implements a filter that grows, shrinks and deletes in about 16 bits
// per key at 1 %, at every size: everbloom's own kind for sets whose keys are deleted only
// if they were added.
//
// # Idea
//
// A hash table of fingerprints in hash order, in cache lines. A bucket that has no room in
// its line lies in the next one, so no line is full while the whole is not, and the table
// grows by one line at a time: no doubling, no pause, and no memory that waits for keys. A
// fingerprint gives its first bit to the address when its bucket is split and gets it back
// when buckets are merged. The few whose bits run out are kept beside the table.
//
//	            key    1011 0010110 01101110010 ...
//	                   └─┬┘ └──┬──┘ └────┬────┘
//	                 group  bucket  fingerprint
//
//	line    in  held  map of buckets      free      slots, first one highest
//	        9   7     1101001100...       0 ... 0   ... 12 bits 12 bits 12 bits
//
// # Operations
//
// A query computes the line of its bucket, finds the bucket by its map and compares about
// one slot. One query in eight goes on to the next line. Add inserts a slot, and moves
// buckets to the next lines where there is no room. Delete removes the longest fingerprint
// that fits the key, and takes back what lines behind hold for want of room. After that, a
// line is added or removed if the ring has become too full or too empty: one group of three
// to six lines is rewritten.
//
// # Invariants
//
// All keys can be assigned to different entries, each a prefix of its key. Therefore no key
// that is in the set is ever reported absent; docs/design/0009 has the proof. Entries are in
// order and in their shortest form, lines are packed to the left: the ring is a function of
// its entries and its size.
//
// # Cost
//
// At a fill of 0.90 and slots of 12 bits a key takes 15.7 to 16.8 bits from 20,000 keys on,
// 16.3 on average, all memory counted. The rate is kept by the number of keys that were
// asked for as Most: each doubling adds about 0.04 % to a rate of 1 %. The longest change
// rewrites one or two hundred lines, whatever the size, if keys are added once.
//
// # Concurrency
//
// Queries need no lock beside one writer: a line has a sequence number that is odd while it
// is changed, and a query that meets a change begins again.
//
// # When to take another kind
//
//   - Keys may be deleted that were never added: evergreen, which refuses that. Here it may
//     take another key out, as in every filter that stores fingerprints.
//   - Keys are added several times and deleted once: evergreen. Here they are counted, up
//     to 2,047 times with slots of 12 bits; a key that was added more often stays.
//   - The set does not change in size: dleft or blocked are faster.
//
// # Symbols
//
// L level, m lines of a group, s next group, w bits of a slot, q binary logarithm of the
// buckets of a group, as in docs/design/0009.
package perennial
