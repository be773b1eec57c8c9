// Package mem is where filters get their memory: blocks of words, and arrays of them
// that grow without moving.
//
// # Blocks
//
// [Words] takes a block from the ordinary Go heap. It has no pointers inside, so the
// collector neither scans it nor needs help to free it. A block is zeroed, begins on a
// 64-byte line, and has no spare capacity behind it. Small ones waste at most the rest
// of their last line. Blocks of 4 MiB and more ask the kernel for huge pages over the
// part of them that is made of whole 2 MiB pages, before the caller touches it: a query
// that misses the cache should not miss the TLB as well. Small pages that the runtime
// recycles are joined on the spot where the kernel can, else in its own time. The advice
// stays with the addresses, so later users of freed memory inherit it.
//
// The Go runtime ends the process when the system has no memory left, and nothing can
// catch that. Therefore a request of 4 MiB or more, or one with which smaller ones add
// up to that, is first compared with what the machine, the cgroups of the process (v1
// and v2), ulimit -v and GOMEMLIMIT leave, and a larger one is refused with an error
// that wraps [ErrMemory] and names the limit. Near a limit smaller sums are compared.
// What the Go heap holds but does not use counts as available, and what was taken but
// not touched yet as gone, so all blocks of the process count together. The check is a
// guard against mistakes, not a reservation: two requests at the same moment that are
// each possible can still be too much together.
//
// # Arrays
//
// An [Array] holds elements of a fixed number of words and grows in steps, sixteen to
// each doubling, so that at most a sixteenth of it waits for elements to come. With
// first = 2, where a step has 2^2 elements at least:
//
//	step      0      1      2            31         32           33                47         48
//	index     0-3    4-7    8-11   ...   124-127    128-135      136-143    ...    248-255    256-271   ...
//	elements  2^2                                   2^3                                       2^4
//
//	double  = max(0, bit length of (i >> first) - 5)
//	step    = 16 double + (i >> (first + double))
//	place   = the lowest first + double bits of i
//
// A directory has a pointer to each step; it is replaced by a longer one when that is
// needed. Growing appends steps, shrinking takes whole ones away, and no element is
// ever copied or moved. Steps of one doubling that are asked for at once are one block.
// Where the elements are whole lines (a multiple of 8 words) every element begins on a
// line. Steps of 64 KiB and more ask for huge pages also where those reach into
// their neighbours, which as a rule belong to the same array.
//
// [Lines] are an array of cache lines for filters that have no other memory, so that what
// waits for keys counts: sixty-four steps to each doubling, the smallest of 8 lines, and a
// directory that is never longer than the steps need, by a line of it at most.
//
// # Files
//
// A [File] is an [Allocator] whose blocks lie in a file that is mapped into memory.
// Space on disk is allocated before a block is handed out, so a full disk is an error
// from Words and never a fault on a later store (on a file system that copies on write,
// or if something else truncates the file, this cannot be promised). The file has a
// line of text that says what it is. It is scratch space, not a format: it is removed
// with the File, and locked while it is open, so that a second File of the same path is
// refused, and a file that a killed process left is recognised and used again.
//
// # Concurrency
//
// Words, Heap and File may be used by many goroutines at once. An Array has one writer
// at a time (Grow, Shrink) and any number of readers beside it (At, Cap). The
// words themselves are not synchronised.
//
// # Portability
//
// Systems other than Linux, and builds with the tag purego, ask for no huge pages.
// Systems that cannot map and lock files, such as Windows, have no [File]. Where the
// machine does not say what it has, only GOMEMLIMIT and the address space
// limit a request. On 32-bit systems sizes are checked before they are converted to
// int, all of the process has to fit into 2 GiB, and one block is at most what is left
// of that.
package mem
