// Package packed has small unsigned numbers that are stored without gaps: a number is some
// bits of words taken as one little-endian number, so that it may begin in one word and end
// in the next. With numbers of 14 bits:
//
//	word      0                                            1
//	bit       0       14      28      42      56      64   70
//	number    |   0   |   1   |   2   |   3   |   4 low | 4 high |   5 ...
//
// There is no locking: many may read, or one may write. Neighbours share words, so that
// writers of different numbers exclude each other, too.
package packed

const wordBits = 64

// Bits returns the number of the given width, at most 63, that begins at bit at of the
// words. It touches the words in which the number lies and no other.
func Bits(words []uint64, at, width uint64) uint64 {
	i, shift := at/wordBits, at%wordBits
	v := words[i] >> shift
	if shift+width > wordBits {
		v |= words[i+1] << (wordBits - shift)
	}
	return v & (1<<width - 1)
}

// SetBits makes v, which must not be wider, the number of the given width, at most 63,
// that begins at bit at of the words.
func SetBits(words []uint64, at, width, v uint64) {
	i, shift := at/wordBits, at%wordBits
	mask := uint64(1)<<width - 1
	words[i] = words[i]&^(mask<<shift) | v<<shift
	if shift+width > wordBits {
		words[i+1] = words[i+1]&^(mask>>(wordBits-shift)) | v>>(wordBits-shift)
	}
}
