// Package deletable is a Bloom filter from which most keys can be deleted, at a
// fraction of the cost of counters.
//
// [DlBF10] describes it. The collision array of [Sum] is the special case in which
// every bit has a mark of its own.
//
// The idea: a bit that only one key has set can be cleared when that key goes.
// Adding a key finds out where that is not so: wherever a bit is set already, keys
// collide. To remember each such bit would double the memory, so the bits are cut
// into regions, and one mark per region says that a collision happened somewhere in
// it. A key can be deleted if at least one of its bits lies in a clean region;
// otherwise it is pinned.
//
// # Memory
//
// Of m bits the first r are the marks, and the other m' = m - r are cells, r
// regions of ⌈m'/r⌉ each. Fig. 1 of the paper, with m = 32 and r = 4:
//
//	marks    region 0      region 1      region 2      region 3
//	1 0 0 0  ....11.       .....1.       11..1..       .......
//	^        collision: its bits stay    ^^  ^  clean: may be cleared
//
// The last region may be short, and there may be marks for which no cells are
// left: every m and r with 1 <= r <= m' works. With r = m' regions have one bit.
// In memory marks and cells are separate, each from the start of a word; a query
// reads cells only. [Filter.AppendRaw] gives the m bits without a gap, for packet
// headers, and [Wire] tests and deletes keys there.
//
// # Operations
//
// Add sets the key's cells and marks the region of each that was set already. A
// position that the key has twice does not count. MayContain tests the cells.
//
// Delete has three outcomes. ErrNotFound: a cell is clear, the key is certainly
// not in the set. ErrPinned: all cells are in marked regions, nothing was changed,
// the key stays. Otherwise those in clean regions are cleared, at least one, and
// the key is absent from then on. Its cells in marked regions stay behind.
//
// Adding a key twice makes all its bits collide: it is pinned, and so are its
// regions. Deleting a key that was never added, but is taken for present, clears
// bits of other keys, which are then lost. Delete only what was added, and do
// not skip an Add because MayContain said yes if the key is to be deleted later.
//
// Marks never clear, but by Clear. Under additions and deletions in turn the clean
// regions become fewer, keys that cannot be deleted accumulate, and the bits left
// behind raise the rate, although the set stays as large as it is. Rates of a full
// filter after a share of its keys was replaced, and how many can be deleted then:
//
//	made for   0              1/10           1/4            1/2            1              2              5
//	1 %        1.0 %, 90 %    1.2 %, 85 %    1.5 %, 78 %    2.4 %, 65 %    5.5 %, 40 %    18 %, 12 %     69 %, 0 %
//	0.1 %      0.10 %, 91 %   0.14 %, 86 %   0.23 %, 77 %   0.53 %, 58 %   2.1 %, 28 %    12 %, 5 %      69 %, 0 %
//
// Info tells the rate as it is and calls the filter overfull, which begins before a
// tenth was replaced; its details have the share of clean regions and of keys that
// can be deleted now. The remedy is to build the filter anew, and for sets that
// change for long to take another kind.
//
// Union is the OR of the bits and of the marks, and marks the region of each bit
// that is set in both. Intersect is the AND of the bits and of the marks.
//
// [Choose] builds the filter with several salts and takes the best: the lowest
// fill, or one in which certain keys can be deleted or are not claimed by mistake.
//
// # Invariants
//
// A set cell in a clean region belongs to at most one key of the set, and to it
// only once. So deleting a key of the set takes nothing from others:
//
//   - Add sets a clear cell, which belongs to no key, or marks the region.
//   - Delete clears cells of clean regions, which belonged to the key alone.
//   - Union: a cell of a region that is clean afterwards was set in one operand
//     only, in a region that was clean there.
//   - Intersect: the keys of the result are in both operands. If a region is clean
//     in either, each of its cells has at most one owner among that operand's keys,
//     and so at most one among the common keys, however often the other operand
//     used it. Hence the marks are the AND. Cells that unlike keys set in both
//     operands are left without an owner, which does no harm: the next key that
//     comes upon one marks the region. A key that was in one operand only is no
//     longer in the set, even if MayContain says so, and must not be deleted.
//
// Marks without a region and bits beyond the last cell stay clear. The counts of
// set cells and marks are always true. The number of keys is that of the Adds that
// set a cell less the Deletes that succeeded: a key that is not counted, because
// it was a false positive when it came, is pinned and never discounted. It is at
// most the number of set cells.
//
// # Costs
//
// At 1 % and nine keys in ten deletable 11.5 bits per key, 20 % more than a
// standard filter and a third of one with counters of 4 bits. No operation
// allocates. MayContain reads up to k words, Add k and a mark for each collision,
// Delete k and k marks.
//
// # Concurrency
//
// Any number of goroutines may ask at the same time. A goroutine that changes a filter
// must be alone with it; everbloom.Set sees to that.
//
// # When to take another kind
//
// When every key must be deletable, keys come and go for long, or are added more
// than once: counting or dleft. When nothing is deleted: bloom.
//
// # Departures from the paper
//
// A key's repeated positions do not collide with themselves, so that a lone key
// can always be deleted. A Delete that can clear nothing is refused instead of
// ignored. The size of the bitmap follows from the asked deletability by a formula
// that takes into account that the key itself is in the filter; Eq. (1) does not,
// and promises too much (see docs/papers/dlbf10.md). The number of hashes is chosen with it.
//
// # Symbols
//
//	n  Config.Items     m  Shape.Bits     k  Shape.Hashes     r   Shape.Regions
//	p_d  Shape.Deletability               m' Shape.Cells      m'/r  Shape.RegionBits
package deletable
