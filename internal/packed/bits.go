package packed

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
