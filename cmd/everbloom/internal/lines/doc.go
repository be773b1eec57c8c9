// Package lines reads keys, one per line, from files and pipes, faster than one
// line at a time.
//
// # What a line is
//
// A line ends at "\n"; one "\r" before it is dropped. The last line of an input
// may lack its "\n". The text of a line is its key, whatever bytes it has. Empty
// lines hold no key. A line has at most 16 MiB. [Rules] change that: lines that end
// at a zero byte, comments, a field as the key, keys in lower case.
//
// An input that begins as gzip, bzip2, xz or zstd data does is decompressed,
// whatever its name. What looks like anything but a list of keys is refused, by
// the first block of its text: executables, pictures, archives, filters.
//
// # How it is read
//
// A [Reader] cuts its input into [Block]s of whole lines; [Each] reads blocks,
// lets several goroutines work on them, and hands over the results in the order
// of the input:
//
//	reader ── block ──> worker ──┐
//	  ^    ── block ──> worker ──┼──> use, in order
//	  └───────── used blocks ────┘
//
// The number of blocks is fixed and their memory is used again, so that nothing
// is allocated per line. [Block.Cut] finds the lines of a block.
package lines
