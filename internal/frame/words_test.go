package frame

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// wordEdges are lengths around the conversion buffer and the chunks.
var wordEdges = []int{0, 1, 2, portableWords - 1, portableWords, portableWords + 1, chunkSize/8 - 1, chunkSize / 8, chunkSize/8 + 1, 100_000}

func randomWords(seed uint64, n int) []uint64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	words := make([]uint64, n)
	for i := range words {
		words[i] = rng.Uint64()
	}
	return words
}

// TestWordTwinsAgree compares the fast and the portable conversion, in both
// directions, with each other and with encoding/binary.
func TestWordTwinsAgree(t *testing.T) {
	for _, n := range wordEdges {
		words := randomWords(uint64(n), n)
		want := wordBytes(words)
		for name, write := range map[string]func(io.Writer, []uint64) error{"fast": WriteWords, "portable": writePortable} {
			var b bytes.Buffer
			if err := write(&b, words); err != nil || !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s: %d words written wrong, %v", name, n, err)
			}
		}
		for name, read := range map[string]func(*Reader, []uint64) error{"fast": (*Reader).ReadWordsInto, "portable": (*Reader).readPortable} {
			r, err := Open(bytes.NewReader(encode(t, sample(want))))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]uint64, n)
			if err := errors.Join(read(r, got), r.Close()); err != nil || !slices.Equal(got, words) {
				t.Errorf("%s: %d words read wrong, %v", name, n, err)
			}
		}
	}
}

// TestWordsMayStandAnywhere reads words that straddle chunks and do not begin
// at a multiple of 8.
func TestWordsMayStandAnywhere(t *testing.T) {
	words := randomWords(2, 100_000)
	payload := append([]byte("odd"), wordBytes(words)...)
	for _, first := range []uint64{0, 1, 511, 512, 513, 32_767, 32_768, 99_999, 100_000} {
		for _, src := range []io.Reader{bytes.NewReader(encode(t, sample(payload))), opaque(encode(t, sample(payload)))} {
			r, err := Open(src)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.ReadFull(make([]byte, 3)); err != nil {
				t.Fatal(err)
			}
			a, errA := r.ReadWords(first, (&heap{}).words)
			b, errB := r.ReadWords(uint64(len(words))-first, (&heap{}).words)
			if err := errors.Join(errA, errB, r.Close()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(append(a, b...), words) {
				t.Errorf("%d words and the rest from %T: read wrong", first, src)
			}
		}
	}
}
