// Package evergreen is a Bloom filter for sets that change: it deletes exactly,
// grows and shrinks a block at a time, keeps the rate it was asked for at every
// size, and its readers never wait.
//
// It takes from [EBF21] that bits in fast memory answer, and fingerprints in
// slow memory remember what the bits stand for; from [PSS07] that the bits of a
// key lie in one cache line; and from linear hashing that a table grows by one
// place.
//
// The idea: a key is one of the keys of its block, 512 bits. Beside each block,
// in slow memory that queries never touch, lies the list of its keys'
// fingerprints. The bits of a block follow from its list. So a key can be
// deleted by taking its fingerprint from the list and clearing the bits that no
// other fingerprint needs; and a block that gets too full can be split in two,
// because a fingerprint has the bits that say which half it belongs to. When
// the rate passes the asked one, one block splits.
//
// # Memory
//
// A key is multiplied by an odd number that depends on the salt; bytes of the
// product are used from the top down. They are bits of the address, as many as
// the number of blocks needs, and, behind the first byte, the fingerprint:
//
//	            byte 7      6      5      4      3      2      1      0
//	product    |  low  |  .      .      .      .      .      .      .  |
//	address    |<- 8 ->|<-- further bits, as the filter grows -->
//	fingerprint        |<------------- width: 24, 32, 40 or 56 ------->|
//
// There are 256 blocks at least, so the first byte of the address is known from
// the block, and a fingerprint of 56 bits is the whole key: its full identity.
// With n blocks, base = 2^b <= n < 2 base, a key's block is given by the b+1
// bits of its address, or by b of them if there is no such block yet:
//
//	block  0 1 2 … n-base-1 | n-base … base-1 | base … n-1
//	       split already    | not split yet   | their upper halves
//
// Slow memory has a ref for every block, to a run of fingerprints that lie side
// by side. Runs come in a few sizes; a page of 4 KiB has runs of one size,
// which its size divides well. A run that outgrows its size moves to a page of
// the next one:
//
//	blocks  [512 bits][512 bits][512 bits] …                   fast: queries
//	refs    [address, count][address, count] …                 slow: changes
//	pages   |owner f f f f . |owner f f f . . |owner f f f f . |free     | …
//
// All blocks grow in step, so pages of a size are abandoned sooner or later.
// Runs can be moved, because a run names its owner: the last runs of a size
// fill the places that others left, and the last pages fill free ones, so memory
// shrinks with the set. Blocks, refs and pages are arrays that grow by segments
// (internal/mem): nothing is copied when they grow.
//
// # Small sets
//
// A filter of at most 512 whole keys has no blocks. It is a sorted list of keys, which
// queries search and each change replaces: an Add or Delete allocates a list, of
// exactly the size that is needed. There are no false positives then. The 513th key
// turns the list into a table of blocks, in some 50 microseconds, and so does Grow; a
// table of which 256 keys are left turns back. Compact filters, those made for more
// keys and those with a SlowFile are tables from the start. See list.go.
//
// # Operations
//
// Add sets the bits of the key and appends its fingerprint. If all bits were
// set already it first looks into the run, so that adding again changes
// nothing. Delete removes the fingerprint and rewrites the block from the
// others; a key whose fingerprint is not there is refused, exactly. MayContain
// looks at the block only, Contains at the run. Len counts. Union, Intersect
// and Difference work for filters of all sizes, rates and salts, since they go
// by keys; Keys gives all of them. In large filters new fingerprints wait in
// small inboxes and are moved to their runs many at a time, so that cache
// misses overlap (stripe.go).
//
// The filter keeps the sum of the rates of all blocks, each by the number of
// its keys and weighted by its share of the key space (meter.go). Add splits
// the next block while that is above the asked rate, Delete undoes splits while
// it is below 0.8 of it. Each of the 64 stripes keeps up to an 8192th of the asked
// rate to itself, so by the filter's own account the rate may pass the asked one by
// a 128th; at 1e-5 and less, where a single key may weigh more than that, by some more.
// Grow adds a block and keeps it; Shrink takes one away
// if the rate allows; what Config.Items asks for is kept as well. Clear empties the
// filter, and keeps that. Union reserves the pages and blocks that it needs and looks
// for full blocks before it adds a key: after an error nothing was added.
//
// # Compact filters
//
// With fewer bits of a fingerprint, keys that agree in them and in the first
// byte look the same. Their fingerprints are stored once for each Add,
// and as many Deletes are owed: to merge them would let the delete of one key
// take another away. A key that was never added is refused but for the n of
// 2^(width+8) that look like one that was; these are false positives at every size,
// and when they are a tenth of the rate the filter is full and Add answers
// ErrFull. Copies count as keys, in the rate, in memory, and against the limit of
// keys in a block: of one key there can be some hundreds. [Shape.Capacity] and Info
// tell in advance when that is: 1.1e9 keys for 32 bits at 1 %, 4.3e6 for 24. There is no Difference, and Keys gives
// nothing.
//
// # Invariants
//
// Every fingerprint is in the run of its block. A block has the bits of its
// keys, those in the inbox included, and no others. With whole keys no
// fingerprint is stored twice. Counts and the sum of rates are those of the
// runs, exactly. Blocks behind the last are empty. See invariants.go.
//
// # Costs
//
// At 1 % 10.1 to 13.5 bits per key of fast memory, 12.2 on average over a
// doubling, and 67 to 70 of slow memory; compact with 32 bits 39 to 42. At 0.1
// % 15.7 to 21.6, 19.3 on average, and 68 to 72; compact 41 to 45. The upper ends
// of slow memory are for sets that shrink. Compact filters take up to 1.03 times the
// fast memory at 50 million keys, where equal fingerprints take part of the rate.
// [Shape.Predict] tells for any number of keys. Up to 512 keys take 64 bits each and
// 88 bytes. A query reads one cache line of a table. An Add waits for one cache line, and
// a Delete for two in a row; no operation does more than a few blocks' worth of
// work, but when a segment of blocks is used up the next, as large as all
// before together, is taken from the system, or cleared if it is in a file and was
// used before; pages are taken by a sixteenth of a doubling; and when pages are given
// back all stripes are locked for a moment, as they are by Clear. Nothing is allocated
// except by growth and for small sets. The heap counts up to 92 bits per key, for what
// waits for keys to come. On amd64 with AVX2 or AVX-512 blocks are handled in assembly; build
// with the tag purego to go without.
//
// The slow memory can be in a file that is mapped (Config.SlowFile): then
// queries need the fast memory only. The file is removed by Close, or when the filter
// is collected; one that a killed process left is taken over.
//
// # Concurrency
//
// Everything may be called by many goroutines at once. Readers take no lock and
// make no writer wait:
//
// The state is one word, the number of blocks and a count of all splits and
// merges. A reader loads it, looks into the block that it gives, and reports the
// key if all bits are set. Before it reports that the key is absent it loads the
// state again, and begins anew if that has moved.
//
// Why no reader misses a key that is in the set throughout: all words are read and
// written atomically, and each change of a block writes a word at most once,
// with its final value. A Delete clears only bits that no remaining key of the
// block has. A split writes the upper block, then the state, then clears bits
// of the lower block; a merge adds bits to the lower block, then writes the
// state, then clears the upper one. So while the state is s, the block that s
// gives for a key has all its bits. They are cleared only after the state has
// left s; and a reader that sees one of them clear for that reason will see, in
// its second look, that the state is not s: stores to a block come after the
// store to the state, and loads from it before the second load. The count makes
// states unique: a merge and a split between the two looks bring back the
// number of blocks, but not the state. Segments of blocks that were given back
// stay readable for readers that are late (lines.go).
//
// "Absent" is linearized at the look at the word that had the bit clear: before,
// the key was not added yet, or it was deleted. "May contain" may be a false
// positive and needs no place.
//
// Writers lock a stripe, chosen by the lowest bits of the address, which are
// the same for a block and all that it was or will be split from. They read the
// state after that: while they hold the stripe none of its blocks is split or
// merged. What changes sizes holds one more lock, taken before the stripe. The
// lock of the slow memory's pages is taken last; the goroutine that holds it takes
// another stripe only if that is free (internal/slab).
//
// In Go these accesses are atomic operations, which are sequentially
// consistent. The assembly uses plain loads and stores, which x86 keeps in the
// order that is needed: loads with loads, stores with stores; it reads and
// writes every aligned word as a whole. Unlock makes a writer's stores visible
// before Add and Delete return.
//
// Snapshot, Clone and the like copy stripe by stripe: every key is seen in a
// state that it had during the call.
//
// # When to take another kind
//
// When nothing is deleted and the size is known: bloom's Blocked has the same
// speed with a sixth of the memory. When all memory counts alike: a cuckoo
// filter or dleft stores a key that can be deleted in a fifth, if the number of
// keys is known and no absent key is ever deleted. An exact hash table has
// three times the memory, and no false positives. See
// docs/design/0004-evergreen.md.
//
// # Departures from the paper
//
// [EBF21] keeps k fingerprints of a key, in buckets of equal size beside each
// bit, and doubles. Here it is one fingerprint, in runs of the size that is
// needed, and growth goes by blocks.
//
// # Limits
//
// 2^32 blocks, 2e11 keys. More than 580 keys in one block, which hashed keys do
// not bring about, are refused with ErrFull; keys that others choose need
// filter.NewSipHash. Chosen keys also raise the rate, which Info tells, and "exact"
// is meant for keys, that is for hashes: things with equal hashes are one key.
//
// Add answers ErrStorage when the memory of the process ends (GOMEMLIMIT, cgroups,
// ulimit -v): at about 95 % of a limit. At the limit Delete may do so, too, and
// Intersect and Difference then stop half way.
package evergreen
