package packed

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLayout pins the place of every bit: files hold these words.
func TestLayout(t *testing.T) {
	words := make([]uint64, 2)
	SetBits(words, 4*14, 14, 0x2aab)
	if want := []uint64{0xab << 56, 0x2a}; !slices.Equal(words, want) {
		t.Errorf("words %#x, want %#x", words, want)
	}
}

// TestEveryWidthAgreesWithPlainSlice writes every number of every width over grounds of
// zeros, ones and noise and looks at all of them after each write, and at the bits behind
// the last. 70 numbers pass each way in which one of that width can lie in words.
func TestEveryWidthAgreesWithPlainSlice(t *testing.T) {
	const n = 70
	for width := uint64(1); width <= 63; width++ {
		rng := rand.New(rand.NewPCG(3, width))
		mask := uint64(1)<<width - 1
		for _, ground := range []func() uint64{
			func() uint64 { return 0 },
			func() uint64 { return math.MaxUint64 },
			rng.Uint64,
		} {
			words := make([]uint64, (n*width+63)/64)
			for i := range words {
				words[i] = ground()
			}
			plain := read(words, n, width)
			end := n * width % 64
			tail := words[len(words)-1] >> end
			for i := range uint64(n) {
				v := rng.Uint64() & mask
				SetBits(words, i*width, width, v)
				plain[i] = v
				if got := read(words, n, width); !slices.Equal(got, plain) {
					t.Fatalf("width %d, number %d is set to %#x:\n got %x\nwant %x", width, i, v, got, plain)
				}
			}
			if end != 0 && words[len(words)-1]>>end != tail {
				t.Fatalf("width %d: bits behind the last number were changed", width)
			}
		}
	}
}

// read returns n numbers, bit by bit.
func read(words []uint64, n, width uint64) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		for bit := range width {
			at := uint64(i)*width + bit
			out[i] |= words[at/64] >> (at % 64) & 1 << bit
		}
		if got := Bits(words, uint64(i)*width, width); got != out[i] {
			panic("Bits differs from the bits")
		}
	}
	return out
}
