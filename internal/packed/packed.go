// Package packed has arrays of small unsigned numbers stored without gaps.
//
// An [Array] keeps n values of one width, 1 to 32 bits, in words that its owner supplies. Value i is the bits
// [i*width, (i+1)*width) of the words taken as one little-endian number, so a value may begin in one word and end in the
// next. With width 14:
//
//	word      0                                            1
//	bit       0       14      28      42      56      64   70
//	value     |   0   |   1   |   2   |   3   |   4 low | 4 high |   5 ...
//
// Widths 1, 2, 4, 8, 16 and 32 divide a word and never straddle. No pad is needed behind the last value: an access
// touches the words in which its value lies and no other.
//
// An Array does no locking: many may read, or one may write. Neighbours share words, so writers of different
// values exclude each other too.
package packed

import (
	"errors"
	"fmt"
	"math/bits"
)

const (
	wordBits = 64
	maxWidth = 32

	// newLimit is the largest number of words that New makes itself. From 64 MiB on it matters whether the machine
	// has the memory, and the caller has to ask an allocator that checks.
	newLimit = 64 << 20 / 8
)

// ErrShape is wrapped by the errors about a width or a length that cannot be.
var ErrShape = errors.New("impossible shape")

// Array is n values of one width. It is a view: copies of an Array share the values. The zero value has no values.
type Array struct {
	words []uint64
	n     uint64
	mask  uint64
	width uint64
}

// WordsFor returns how many words n values of the given width occupy.
func WordsFor(n uint64, width int) (uint64, error) {
	if width < 1 || width > maxWidth {
		return 0, fmt.Errorf("packed: width: %d bits, must be 1 to %d: %w", width, maxWidth, ErrShape)
	}
	over, total := bits.Mul64(n, uint64(width))
	if over != 0 {
		return 0, fmt.Errorf("packed: length: %d values of %d bits are more than 2^64 bits: %w", n, width, ErrShape)
	}
	words := total / wordBits
	if total%wordBits != 0 {
		words++
	}
	return words, nil
}

// New returns n zeros of the given width in words of its own. It is for arrays of less than 64 MiB and refuses
// larger ones; take their words from an allocator that knows what the machine can give, and call [Make].
func New(n uint64, width int) (Array, error) {
	need, err := WordsFor(n, width)
	if err != nil {
		return Array{}, err
	}
	if need > newLimit {
		return Array{}, fmt.Errorf("packed: length: %d values of %d bits take %d words, at most %d: %w",
			n, width, need, newLimit, ErrShape)
	}
	return Make(make([]uint64, need), n, width)
}

// Make returns the n values of the given width that the words hold. The words are used as they are, and must be at
// least as many as [WordsFor] says; further ones are left alone, and so are the bits of the last word behind the last value.
func Make(words []uint64, n uint64, width int) (Array, error) {
	need, err := WordsFor(n, width)
	if err != nil {
		return Array{}, err
	}
	if uint64(len(words)) < need {
		return Array{}, fmt.Errorf("packed: words: %d given, %d values of %d bits need %d: %w",
			len(words), n, width, need, ErrShape)
	}
	return Array{words: words[:need:need], n: n, mask: 1<<width - 1, width: uint64(width)}, nil
}

// Get returns value i. The index must be less than Len: beyond it Get panics or returns a meaningless number.
func (a *Array) Get(i uint64) uint32 {
	// The second word is the one that has the value's last bit. If that is the first word again, the bits
	// it adds lie above the value and the mask removes them, so there is neither a branch nor a foreign word.
	bit := i * a.width
	low := a.words[bit/wordBits] >> (bit % wordBits)
	high := a.words[(bit+a.width-1)/wordBits] << (wordBits - bit%wordBits)
	return uint32((low | high) & a.mask)
}

// Set makes v value i. Of v only the lowest Width bits are kept; callers see to it that there are no others.
// The index must be less than Len: beyond it Set panics or changes a meaningless number.
func (a *Array) Set(i uint64, v uint32) {
	bit := i * a.width
	shift := bit % wordBits
	value := uint64(v) & a.mask
	low := &a.words[bit/wordBits]
	*low = *low&^(a.mask<<shift) | value<<shift
	if shift+a.width > wordBits {
		high := &a.words[bit/wordBits+1]
		*high = *high&^(a.mask>>(wordBits-shift)) | value>>(wordBits-shift)
	}
}

// Max returns the largest value that fits.
func (a *Array) Max() uint32 { return uint32(a.mask) }

// Len returns the number of values.
func (a *Array) Len() uint64 { return a.n }

// Width returns the number of bits of each value.
func (a *Array) Width() int { return int(a.width) }

// Words returns the words that hold the values, for codecs and for walks of whole words. They are not a copy.
func (a *Array) Words() []uint64 { return a.words }
