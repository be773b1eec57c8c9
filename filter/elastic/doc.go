// Package elastic is the Elastic Bloom filter: it grows and shrinks with its set,
// keys can be deleted, and a query costs what it costs in a standard filter.
//
// [EBF21] describes it.
//
// The idea: beside every bit of a standard filter there is a bucket, in memory that
// may be slow, with a fingerprint for each time that a key was mapped to the bit. A
// key has k numbers of w bits; the remainder of a number by the size m is the index
// of a bit, the quotient is the fingerprint. Both together are the whole number, so
// when m doubles, the lowest bit of each fingerprint says which of two buckets it
// belongs to: the fingerprints release a bit into the filter, whose rate falls. When
// m is halved they take it back. Deleting a key deletes its fingerprints, and the
// bit of a bucket that becomes empty.
//
// # Memory
//
// k = 1, m = 8, three buckets to a tree:
//
//	number   fingerprint | index          fast memory A, all that queries read
//	0111_101  ───┬────────────┬──────>    . . 1 . . 1 1 .
//	             │            └ bucket 5  │ │ │ │ │ │ │ │
//	             v                        v v v v v v v v
//	slow memory B, level 1: D slots each  [ ][ ][#][ ][ ][##][#][ ]
//	                        level 2       [......][........][......]   what level 1 has no room for
//
// Buckets of level 1 that share one of level 2 are a tree. What level 2 keeps says
// from which branch it is; it has fingerprints only of buckets that are full. Trees are
// formed within each run of as many buckets as the initial size has bits, so that
// doubling maps trees to trees whatever the number of branches is.
//
// A slot is as wide as a fingerprint at the initial size, and keeps the quotient by
// that size for good. Of its low bits as many as there were doublings repeat the
// index, the rest is the fingerprint of the present size: nothing is rewritten when
// the filter grows or shrinks. Slow memory grows by blocks and is never copied. It
// can be in a file ([Config].SlowFile), which is allocated on disk before use.
//
// # Operations
//
// MayContain looks at k bits. Add checks whether all fingerprints of the key are
// there, and if so the key is in the set already; otherwise it puts them into their
// buckets and sets the bits. Delete refuses a key unless all its fingerprints are
// there. Contains is the accurate query, which compares fingerprints.
//
// The filter doubles when the share of set bits passes the threshold, or when a tree
// overflows, as often as it takes to separate what is in the tree. If that is more
// often than it can, or would make it 256 times as large as its set bits ask for, which
// keys do only if they were chosen for it, Add answers ErrFull. It is halved when a
// delete makes the share fall below a quarter of the threshold and no tree overflows by
// it, never below its initial size or one that Grow was asked for. Growth ends when the
// fingerprints have no bits left to give, or so few that new keys would be mistaken for
// others: then Add answers ErrFull at the threshold. If there is no memory to grow,
// keys are still stored while buckets have room, at a rate that rises and that Info
// tells.
//
// The lazy update: doubling copies the bits into both halves of a new array and adds
// empty buckets, that is all. Trees are split in runs of 64: a run when one of its trees
// is next changed, and besides, every change splits the next runs in order, so that all
// is done after a quarter of the keys that lead to the next doubling. The bits tell which
// buckets are empty, and those are not read. [Filter.FinishResize] splits the rest at once,
// with several goroutines and beside writers: call it from another goroutine to take the
// work off the writers. Until then the rate is that of before. An eager expansion
// ([Config].Eager) splits all with several goroutines while writers wait.
//
// Union keeps all fingerprints, those of keys in both twice, and Delete takes out as
// many copies of a key as all its fingerprints have. Uniting many sets that overlap
// fills the buckets with copies, which growing cannot part, only their neighbours from
// them. Because of copies the filter gets at most 8 times the size that its share of
// set bits asks for; beyond that Union and Add answer ErrFull. At the default bucket
// size a filter takes the same set two to seven times, the fewer the larger it is.
// Intersect keeps the common fingerprints. Sizes need not be equal. The number of keys
// is exact until the first union with common fingerprints or intersection, and
// afterwards an estimate from common fingerprints. While it is exact Delete takes one
// copy of each fingerprint, since others are those of other keys.
//
// Numbers narrower than the default ([Config].HashBits) make new keys be taken for
// old ones: they are not added, and when one of the two is deleted both are gone.
//
// # Invariants
//
// A bit is set exactly if its bucket is not empty; in trees that are not split yet
// the bits of both halves are those of the lower bucket. A fingerprint is in the
// bucket of its number, in level 2 only if level 1 is full. The counts of bits,
// fingerprints, keys and unsplit trees are true.
//
// # Costs
//
// A query reads up to k cache lines of fast memory, as in package bloom, whose time
// it takes within 10 %. A change reads as many of both memories, and takes up to k locks.
// Only doubling and halving allocate, and changes with more than 16 hashes. Slow memory is
// large, most of it empty slots; the first few of each bucket, which is what is used as a
// rule, lie together. Bits per key in a
// cycle of growth, from just before a doubling to just after it, with Items from a
// thousand, which takes the most, to 10^9:
//
//	rate    fast        slow
//	10 %    4.8 to 9.6  1,000 to 2,600
//	1 %     9.6 to 19   1,400 to 3,900
//	0.1 %   14 to 29    1,800 to 5,600
//	0.01 %  19 to 38    2,300 to 6,700
//
// Below its Items a filter keeps its initial size. Files hold only the fingerprints,
// about a tenth of slow memory. A SlowFile never shrinks: blocks that a smaller
// filter does not need are kept, and counted by Info. [Shape.FastBits],
// [Shape.SlowBits] and [Shape.FPR] predict all of it.
//
// # Concurrency
//
// Any number of goroutines may do anything. MayContain takes no lock. Add, Delete and
// Contains lock the stripes of the key's trees. A stripe is a range of trees, the same in
// each segment, so that a number of the key tells its stripe at every size. There are up to
// 256, one for each 64 trees of a segment: a filter whose initial size is below a thousand
// bits or so has few, and its writers take turns however large it gets.
// Whatever changes the size, the whole set or what all share takes all stripes: doubling,
// halving, union, intersection, Clear, Snapshot, Close, an Add that makes a tree overflow,
// and a Delete when keys are not counted. The rules:
//
//   - Stripes are locked in ascending order, each once, and of two filters first all of
//     the one that was made first. No goroutine locks more stripes while it holds some.
//   - The words of both memories belong to stripes. Trees at the end of a stripe can share a
//     word with those of the next one, and are used with both locks.
//   - The size, the blocks and all else that is not of a tree is read with any stripe
//     locked and changed with all. The counts of bits, fingerprints and keys are atomic.
//   - A run is split with its stripe locked. A change that finds a run of its key not split
//     lets go, splits it, and begins again.
//   - Goroutines that split all runs while all stripes are held take chunks of runs that have
//     no word in common.
//
// A change is atomic, with all fingerprints of its key: of several goroutines that add one
// key, one is told that it was new. Why no reader ever sees a key
// vanish that is in the set from before its query to after it:
//
//  1. A reader takes the pointer to an array of bits once, and asks only that array,
//     word by word, atomically. Its size comes with it.
//  2. Let the array be the present one. A bit in it is cleared in three places only:
//     when the last fingerprint of its bucket is deleted, when a tree is split, and
//     when an intersection has gone through a tree, and the bucket is found empty. None
//     can be for a bucket of the key: its fingerprint is in it, or in the unsplit tree
//     and moved there before the bit is looked at, or in both sets and put back into
//     the bucket before the bit is looked at. A word is written once for each change,
//     with all its other bits as they are, and no other goroutine writes it, since it is
//     of one stripe.
//  3. An array is complete when its pointer is published. After doubling both halves
//     have the bits of before, and the key's new index is its old one, or that plus
//     the old size. After halving each bit is the union of two, and the key's new
//     index stands for its old one.
//  4. An array that was replaced is never written again. A late reader finds the key
//     in it as it was. Keys that were added since may be missing there, but their Add
//     was not finished when the query began, or the reader would have the newer
//     pointer.
//
// Snapshot's cut is exact: the set at one moment at which no other writer is at work.
//
// # When to take another kind
//
// When the number of keys is known: bloom or, with deletes, dleft needs far less
// memory. When slow memory is not plentiful. When many overlapping sets are united.
//
// # Departures from the paper
//
// Sizes are powers of two. Doubling moves fingerprints instead of copying whole
// buckets and deleting half of each copy. One sign for each run of 64 trees, kept apart
// from them. Level 2 is pulled back on deletes, too. A key's equal numbers are
// stored once. Bucket sizes are from exact odds, w from the odds of mistaking a new
// key for an old one, which are kept below 1e-15, but
// for about n/2^64 that keys of 64 bits cost. See docs/papers/ebf21.md.
//
// # Symbols
//
//	n  Config.Items     δ  Config.FPR     k  Shape.Hashes     w  Shape.HashBits     D, S  Shape.Slots
//	m  Filter.Bits, at first Shape.Bits     Ω  Shape.Threshold     k-ary (branches, b)  Shape.Branches
package elastic
