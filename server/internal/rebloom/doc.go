// Package rebloom reads the filters of RedisBloom, bit by bit, as BF.SCANDUMP and CF.SCANDUMP
// return them: a header, then the bytes of all sub-filters, the oldest first. Numbers are
// little endian and packed.
//
// A Bloom filter is a chain of sub-filters:
//
//	items 8 | sub-filters 4 | options 4 | expansion 4 | each sub-filter 53
//	sub-filter: bytes 8 | bits 8 | items 8 | error 8 | bits per entry 8 | hashes 4 | entries 8 | log2 of bits 1
//
// With a = MurmurHash64A(item, seed) and b = MurmurHash64A(item, a), an item has the bits
// a + i·b mod bits, i below hashes; bit x is bit x mod 8 of byte x/8.
//
// A cuckoo filter is a list of tables of one-byte fingerprints, 0 being a free slot:
//
//	items 8 | buckets of the first table 8 | deletes 8 | tables 8 | bucket size 2 | iterations 2 | expansion 2
//
// With h = MurmurHash64A(item, 0), the fingerprint is h mod 255 + 1, and its buckets are h
// and h xor fingerprint·0x5bd1e995, mod the buckets of the table.
//
// A [Bloom] does not change: two hashes of 64 bits are needed to set its bits, and logs and
// filters of a server hold keys of 64. New items go to a filter of another kind beside it,
// see [Inherited]. A [Cuckoo] is changed in place, by keys that are h.
//
// The bytes may come from anywhere: what is read is valid, and memory follows the bytes that
// are there, not the numbers in a header.
package rebloom
