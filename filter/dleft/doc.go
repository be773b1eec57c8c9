// Package dleft is the d-left counting Bloom filter: keys can be deleted, at less
// than half the memory of a counting filter of the same rate, if that is under 2 %.
//
// [dlCBF06] describes it.
//
// The idea: keep a short fingerprint of every key in a hash table. With one
// choice of bucket per key some buckets would get far more keys than others, and
// room for the fullest would be wasted in the rest. So there are d subtables, a
// key has one bucket in each, and goes to the least loaded, the leftmost of
// several: then nearly all buckets are equally full. The bucket's number is a part
// of the fingerprint and need not be stored; what is stored is the remainder, and
// a small counter for keys with equal fingerprints.
//
// # Memory
//
// A key's true fingerprint is a number below B·R, for B buckets in a subtable and
// remainders of r bits, R = 2^r. In subtable i it becomes a_i·f mod B·R, whose
// quotient by R is the bucket and whose rest is the remainder:
//
//	         subtable 0           subtable 1           subtable 2           subtable 3
//	key ───┬──────┬────────────────────┬────────────────────┬────────────────────┐
//	       f      v a_0 = 1            v a_1·f              v a_2·f              v a_3·f
//	bucket 0 [########]           [######..]           [#######.]           [######..]
//	bucket 1 [#######.]           [######..] <── here  [######..]           [#####...]
//	…                              │
//	                               └ 8 cells: counter 2 | remainder 14 bits
//
// A cell whose remainder is 0 is empty. Every a_i has an inverse modulo B·R, so
// each subtable keeps the fingerprints distinct (they are permuted, not hashed
// again) and gives them back. And every a_i is odd, so a remainder can be 0 only
// if it was 0 in the true fingerprint, where 0 is made 1.
//
// Cells lie without gaps. In the usual geometry one is 16 bits, a bucket is two
// words within one cache line, and its 8 cells are compared four at a time by
// plain arithmetic. Other widths are compared in the same way, after shifting.
//
// # Operations
//
// Add raises the counter of the fingerprint if one of its d buckets has it, and
// else uses a cell. If all its buckets are full, one key of its first bucket is
// moved to another of its own, counter and all; if none can be, Add answers
// ErrFull and nothing was changed. MayContain looks for the fingerprint in all d
// buckets. Delete lowers the counter, and the last copy frees the cell.
//
// Counters stick at their largest value, since it may stand for more: with 2 bits,
// at the fourth copy. A stuck cell is never freed, and deleting its keys only
// lowers the count of keys. Adding a key again is counted, so as many deletes are
// owed as there were adds. Deleting a key that is not in the set is refused with
// ErrNotFound, unless it is a false positive: that takes away a copy of another
// key, which may be a false negative from then on.
//
// Union recovers all fingerprints of the other filter and adds them with their
// counts, to a copy that takes the place of the filter when all fitted. Intersect
// keeps the common fingerprints with the lower counts. Both need equal shapes.
//
// # Invariants
//
// A fingerprint has one cell at most, in one of its d buckets. Empty cells are all
// zero. The counts of used cells, copies and stuck counters are those of the
// cells. Only Delete and Intersect lower a counter.
//
// # Costs
//
// No operation allocates but Union, which needs the memory twice for a moment. One
// key: d cache lines, whose misses overlap; on amd64 MayContain is assembly for the
// usual geometry, unless built with the tag purego. With the paper's geometry 21.3 bits per
// key at 0.146 %, which is what is made for every rate from that upwards; 23.4 at
// 0.1 %; for others [BitsPerKey]. Rates down to 2.3e-8 can be had.
// [Config].Remainder of 12 saves 12 % at 1 % and costs time.
//
// The number of keys is bounded: see [Shape.Overflow] and [Shape.ChurnOverflow]. With
// the default load the odds that Items keys do not fit are negligible, also under
// never-ending deletes and adds.
//
// # Concurrency
//
// Any number of goroutines may query at the same time. A change excludes all other
// calls; everbloom.Set has the lock for that.
//
// # When to take another kind
//
// When nothing is deleted: bloom needs about half the memory. When the number of keys is
// unknown. When keys are added very often (counts beyond 2^Counter) and
// must all be deletable. When keys that are not in the set may be deleted.
//
// # Departures from the paper
//
// Its permutations work modulo 2^q and so need a power of two of buckets; those here are
// modulo B·2^r, for any B. The first is the identity. The fourth copy, not the
// fifth, is where a counter of 2 bits ends: the paper does not say what follows an
// overflow, and a counter that sticks must be told from one that is exact. Empty
// remainders are accounted for in the rate. See docs/papers/dlcbf06.md.
//
// # Symbols
//
// In the paper m counts the keys and n the buckets or counters of all.
//
//	d  Shape.Subtables     |B|  Shape.Buckets     |R|  2^Shape.Remainder     m  Config.Items     f, ε  Config.FPR
package dleft
