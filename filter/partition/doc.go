// Package partition is the dynamic partition Bloom filter: a set of any size, whose
// rate of false positives does not rise above the asked one, also through unions and
// intersections of sets of unequal sizes. For ids that holds for every set. Hashed Keys are
// shortened to ids, and with the default Config.Items keep the rate up to 120 million keys;
// up to 200 million they pass it by a fifth at most, and a billion keys have 3 to 4 times the
// asked rate. Config.Items of more than 8 million move all that up in proportion.
//
// [DPBF19] describes it. See docs/papers/dpbf19.md.
//
// The idea: halve the universe of ids again and again, to a depth d. That is a tree
// whose 2^d leaves have n_t ids each. If every populated leaf had a small Bloom
// filter, a unit, for n_t ids, none of them could ever be too full, and a query would
// look at one only. But a set that is spread out would have one key to a unit. All
// units have the same size and hashes, so that those below a node can be united by
// OR: the filter keeps the tree as short as that allows. A leaf of this compressed
// tree is split when it is too full, and its halves are made from what the map of
// populated units knows.
//
// # Memory
//
// The compressed tree answers queries. It is an array of pairs of children, an array
// of units, and a table for the first bits of an id, so that a query takes no more
// than a step or two if ids are spread evenly:
//
//	id 1001…                                        units, m bits each
//	   │                                            ┌──────────────────┐
//	   ├─> top    [leaf 0|leaf 0|pair 3|leaf 2]     │. 1 . . 1 1 . . 1 │ 0
//	   │            00     01    │10     11         ├──────────────────┤
//	   └─> pairs  … [leaf 1|empty] …             ┌─>│1 . . . . 1 . 1 . │ 1
//	                 0│     1      3             │  ├──────────────────┤
//	                  └──────────────────────────┘  │. . 1 1 . . 1 . . │ 2
//
// A leaf without ids has no unit. The map keeps the ids themselves. It is cut into
// the leaves of the tree, each of which has its ids in order in one block:
//
//	leaf 0   base 0x0c000000 | 3 bytes each: 00f4a1 05c310 05c322 …   thin: offsets
//	leaf 1   base 0x9d000400 | 1111.1111111.11…                       dense: a bitmap
//
// The upper bits that all ids of a leaf share are its base. What is left of each id,
// its offset, takes whole bytes, until a bitmap of all offsets is smaller. The paper
// keeps m bits for every populated unit of the map instead: for ids that are spread
// out that is m bits for each key. Offsets are exact, and at rates of 0.01 % and less
// and ids of 32 bits they take less than the paper's map wherever the ids lie. At higher
// rates, or in larger universes, a few dense clusters that share a leaf may take more,
// 8 bytes for each id at the very most.
//
// Ids are numbers below [Config].Universe, which are passed as Keys without hashing,
// or, by default, the upper u bits of hashed Keys. Then two Keys may have one id, which
// adds n/2^u to the rate: u is chosen so that this is at most a 32nd of the rate at 8
// million keys, or at Items if these are more; where that would take more than 64 bits,
// below 1.5e-11, it is a 32nd at Items. It goes on growing with the set, and Info tells it.
//
// # Operations
//
// MayContain finds the leaf of the id and asks its unit. Add puts the id into the
// leaf's block and sets its bits; if they are more than the rate allows, the leaf is
// split, and again if one half has them all. Splits go by set bits, so that adding a
// key again splits nothing. A leaf at depth d is never split: it has n_t ids at most, for
// which a unit is made. An id outside of the universe is refused with [ErrOutside] and
// is never contained.
//
// Union and Intersect walk the two maps leaf by leaf and build a new tree from what they
// find, one leaf at a time. Sets need equal shapes, not equal sizes, so filters that
// are to be merged are made from the same Config. The functions [Union] and [Intersect]
// leave their operands as they are; the methods replace the receiver. Both are exact: the
// result is the filter that the united or common keys would have given.
//
// # Invariants
//
// The filter follows from the set of its ids: the tree, every bit, and the memory, but not
// the numbers of the units, are the same whatever the order of Adds and merges was. A
// node is inner if and only if its ids do not fit into one unit and its depth is less
// than d. So the rate of a query is at most that of a unit as full as it may be, wherever
// the ids lie and whichever ids are asked for.
//
// # Costs
//
// For 0.01 % and evenly spread ids of 32 bits: 21 to 37 bits per key for the tree,
// depending on how far the last doubling is past, and 18 to 38 for the map, 74 together at
// most from 10,000 keys on; ids that lie together take 1 or 2 for the map. [Shape.Predict]
// tells. A plain filter takes 19 and cannot grow. A set that is smaller than a unit takes one
// whole unit, 2.5 KB: say in Config.Items if all sets are small.
//
// These are the bytes that the filter holds. The blocks of the leaves change their sizes
// as the set grows, and the heap keeps holes where they were: of one million and of five
// million hashed Keys at 1 %, which hold 44 to 49 bits per key, spans in use take 48 to 67
// and the process 58 to 76 bits per key, the more the smaller Config.Items was.
//
// One id can cost a whole unit. Clusters that are a little larger than a unit, with lone ids
// around them, cost one for each lone id: clusters of 1,100 with 15 lone ids take 334 bits
// per key. With a file of such a set the same memory comes back: a file from a source that one
// does not trust can make Read take d·k·m/Full bits for each id, some hundred times its size,
// and thousands of times if its shape was made for that.
//
// A query reads an entry of the table and then, like a plain filter, k bits, in one unit
// and so in one or two pages of memory. Adding a key moves half of its leaf's block, about a
// kilobyte, and costs on top about twice its share of setting bits again in splits. Add
// allocates when a block or an array gets larger, about 15 times in 1000 calls with units
// for 1024 ids and more often with smaller ones; queries never do. There is a Go object for
// each leaf of the tree, hundreds of keys, and none for a populated unit. A union of two
// sets of a million takes a fraction of a second.
//
// # Concurrency
//
// Any number of goroutines may ask at the same time: queries change nothing. A goroutine that
// changes a filter must be alone with it; everbloom.Set sees to that.
//
// # When to take another kind
//
// When the number of keys is known: bloom or blocked take a third of the memory. When
// keys must be deleted. When sets grow and are never merged, and memory matters more
// than the rate: scalable.
//
// # Departures from the paper
//
// Offsets in place of units in the map, as told above; empty leaves have no unit; splits
// go by set bits, unless Shape.Count asks for the paper's rule; a unit has four standard
// deviations more than Eq. (1) gives, so that also an unlucky one keeps the rate when it
// is full. A universe that is no power of two is rounded up to one for the halving.
//
// # Symbols
//
//	|U|  Shape.Universe or 2^IDBits     d  Shape.Depth        m  Shape.UnitBits
//	f    Config.FPR                     n_t  Shape.UnitIDs    k  Shape.Hashes
//	puBFMap  the map                    uBF  a unit           CPBPT  the tree
package partition
