// Package bloom is the standard Bloom filter, in its classic form and in one
// that keeps each key in a single cache line.
//
// [Sum] describes the classic form, [PSS07] the blocked one.
//
// The idea: m bits, all clear. A key is hashed to k of them; adding sets them,
// asking looks whether all are set. A clear bit proves that the key was never
// added. If all are set, either it was, or others happened to set the same
// bits, which is a false positive. Nothing can be taken out: a bit may belong to
// many keys.
//
// # Memory
//
// [Filter] takes the k bits anywhere among m. The k-th position is the k-th
// step of a generator that starts from the key:
//
//	         ┌──────────────────────┬───────────────────┐
//	key ─────┤ h, h·c, h·c², …      ├──> h·cⁱ·m >> 64   │
//	         v           v          v
//	. . . 1 . . . . . . 1 . . . . . 1 . . . . . . . . .    m bits
//
// [Blocked] first chooses a block of 512 bits, one cache line, and then the same
// number of bits in each of its 8 words (1 for k = 8, 2 for k = 16, …):
//
//	block 0         block 1                                  block 2
//	[w0 w1 … w7]    [..1..... 1....... ... .....1.. ]        [w0 w1 … w7]
//	                  word 0   word 1        word 7
//
// A query reads one line of memory instead of up to k. The price is that some
// blocks get more keys than others, so that a few more bits are needed for the
// same rate: 10.1 instead of 9.6 per key for 1 %, 15.7 instead of 14.4 for 0.1 %.
//
// # Operations
//
// Add sets the key's bits and counts those that were clear; MayContain tests
// them; Union and Intersect work on whole words and need equal shapes; Len and
// Info estimate the number of keys from the count of set bits. Adding a key
// again changes nothing. Past the number of keys it was made for a filter
// accepts more and its rate rises; Info then says that it is overfull.
//
// # Invariants
//
// Bits are only ever set, except by Intersect. The count of set bits is always
// that of the bits. Bits beyond m in the last word stay clear.
//
// # Costs
//
// Nothing that is done with keys allocates. One key: k reads for Filter, 1 for
// Blocked. Batches overlap the cache misses of many keys, which pays for filters
// that are larger than the caches. On amd64 processors with AVX2 or AVX-512
// Blocked uses assembly; build with the tag purego to go without.
//
// # Concurrency
//
// Any number of goroutines may ask at the same time. A goroutine that changes a
// filter must be the only one that uses it; everbloom.Set sees to that.
//
// # When to take another kind
//
// When keys must be deleted, or when their number is not known in advance.
//
// # Departures from the papers
//
// [Sum] draws k random seeds and hashes the key with each; here one 64-bit hash
// is the seed of a short multiplicative generator, which gives the same rate for
// a k-th of the work. [PSS07] leaves the positions within a block free; here
// they are spread evenly over its words, so that eight can be tested at once.
//
// # Symbols
//
//	n  Config.Items     m  Shape.Bits     k  Shape.Hashes     P  Config.FPR
package bloom
