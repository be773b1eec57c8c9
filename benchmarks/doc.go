// Command benchmarks measures everbloom's filters and other Go filters side by side.
//
//	go run . -short                       a first look, under 90 seconds
//	go run . -n 10k,1M -fpr 1%,0.1%       the tables
//	go run . -bars                        the limits everbloom has set itself
//	go run . -list                        what takes part
//
// # What is timed
//
// The whole of what a user pays for a key given as bytes: hashing it and working on the
// filter. Filters that want a hashed key get XXH3 of the bytes, the hash everbloom uses;
// filters that hash for themselves do so. Nothing is subtracted. The row "loop" walks over
// the keys and does nothing with them, so its time is the harness's share of every other row;
// the row "floor" hashes and probes one bit, which no filter can undercut by much.
//
// # Keys
//
// Key number i is a mix of seed and i that maps different numbers to different keys, so a set
// of 50 million keys needs no storage: it is the numbers 0 to n-1. Absent keys come from
// numbers no set uses, so an absent key is never in the set by accident. Timed code must not
// pay for the mixing, nor wait for a key to come from far memory, so keys are laid end to end
// in a buffer before the clock starts and read in order, which the processor prefetches.
//
//   - Lookups take their keys from buffers of about a million, drawn at random with every
//     round: hits from the whole set, misses from the absent numbers. The buffer is much too
//     long for a branch predictor to learn, also for a set of 10 k. All contenders of a round
//     get the same buffers.
//   - Inserts and deletes take each key once, in an order that is a fresh permutation of the
//     set each time. The buffer is refilled with the clock stopped.
//
// The answers are counted and compared with what they must be: the compiler cannot drop
// the work, and a filter that does not find a present key, or loses one when another is deleted, is
// reported in capitals and makes the exit status 1. Contenders that may miss keys by design are
// marked and show the share they missed.
//
// # Rounds
//
// A machine that others share drifts, so contenders take turns: in every round each one is
// filled, asked and emptied once, for about the time that -pass gives each operation, and the
// order is rotated from round to round. Lookups, which are compared to the nanosecond, take
// turns twenty times within a round. The tables show the median over the rounds and
// half the interquartile range in per cent of it. A ratio is the median of the ratios within
// rounds: drift that hits both sides drops out.
//
// All contenders of a table are alive together. One for which -mem leaves too little is
// skipped, which is said.
//
// # Clock
//
// One thread is timed by its own processor time where the system tells it: a neighbour that takes
// the processor away for a while is then not in the figures, though what it does to caches and
// memory is. Several threads are timed by the wall, since one that waits for a lock uses no
// processor. On a busy machine, more rounds help more than longer passes.
//
// # Memory
//
// Bits per key are measured as the growth of the live Go heap, after collection, by building
// and filling; small filters are built several times over for that, so that the figure is not
// lost in noise. It is what the process pays, size classes and spare capacity included. Where a filter says
// itself how many bits it takes, the column "says" shows it.
package main
