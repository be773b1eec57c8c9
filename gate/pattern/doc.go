// Package pattern finds forbidden sequences in streams of 32-bit words and in streams of
// bytes, and keeps only a number for each stream.
//
// [Stream] finds patterns in bytes, at any offset and in either case where a pattern says
// so. The rest of this page is about words.
//
// It is the automaton of Aho and Corasick with words in place of letters. A node
// is a beginning of some pattern, 0 the empty one. With every word a stream goes
// to the longest node that its words so far end with, so any position may be the
// first of a pattern. The number of the node is the whole state of a stream.
//
// # Memory
//
// The alphabet has 2^32 letters, so there is no table of nodes by letters. The
// edges of all nodes lie in one table with open addressing, twelve bytes each:
//
//	edges   | parent word child | . | parent word child | …    at most half full
//	nodes   | fail, pattern | fail, pattern | …                 eight bytes each
//
// A node's fail is the longest node that is a proper suffix of it, its pattern
// the longest one that it ends with. An automaton for 64 patterns of 8 words has
// at most 513 nodes and takes 28 KB.
//
// # Restarts
//
// The caller goes back to node 0 when a pattern is complete. So a pattern with another
// one inside, other than at its end, is never completed: the inner one is first.
// [Automaton.Shadowed] names such patterns.
//
// # Cost
//
// A step looks up one edge, and one more for each fail it follows; these are at
// most as many as the words that led to the node. Nothing is allocated. An
// Automaton does not change: many goroutines may use it.
package pattern
