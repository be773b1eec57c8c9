package counting

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// naive applies an operation to each lane of two words.
func naive(width int, x, y uint64, op func(a, b uint64) uint64) (out uint64) {
	top := uint64(1)<<width - 1
	for at := 0; at < 64; at += width {
		out |= op(x>>at&top, y>>at&top) & top << at
	}
	return out
}

// TestWordsAreMergedLaneByLane compares the operations on whole words with those
// on single counters: all pairs of values, in all lanes, between random ones.
func TestWordsAreMergedLaneByLane(t *testing.T) {
	for _, width := range []int{2, 4, 8} {
		l := lanesOf(width)
		rng := rand.New(rand.NewPCG(uint64(width), 3))
		add := func(a, b uint64) uint64 { return min(a+b, l.top) }
		least := func(a, b uint64) uint64 { return min(a, b) }
		for a := range l.top + 1 {
			for b := range l.top + 1 {
				at := rng.IntN(64/width) * width
				x := rng.Uint64()&^(l.top<<at) | a<<at
				y := rng.Uint64()&^(l.top<<at) | b<<at
				if got, want := l.add(x, y), naive(width, x, y, add); got != want {
					t.Fatalf("width %d: %#x + %#x is %#x, want %#x", width, x, y, got, want)
				}
				if got, want := l.least(x, y), naive(width, x, y, least); got != want {
					t.Fatalf("width %d: min of %#x and %#x is %#x, want %#x", width, x, y, got, want)
				}
			}
		}
	}
}

func TestLanesAreSummedAndCounted(t *testing.T) {
	for _, width := range []int{2, 4, 8} {
		l := lanesOf(width)
		rng := rand.New(rand.NewPCG(uint64(width), 4))
		words := []uint64{0, ^uint64(0), l.low, l.high, ^l.high, 1, 1 << 63}
		for range 1000 {
			words = append(words, rng.Uint64()&rng.Uint64(), rng.Uint64()|rng.Uint64())
		}
		for _, x := range words {
			var sum, set uint64
			var used, full int
			for i := range 64 / width {
				value := x >> (i * width) & l.top
				sum += value
				if value > 0 {
					used++
					set |= 1 << i
				}
				if value == l.top {
					full++
				}
			}
			if l.sum(x) != sum || bits.OnesCount64(l.used(x)) != used || bits.OnesCount64(l.full(x)) != full || l.gather(x) != set {
				t.Fatalf("width %d, %#x: sum %d, used %#x, full %#x, gathered %#x; want %d, %d, %d, %#x",
					width, x, l.sum(x), l.used(x), l.full(x), l.gather(x), sum, used, full, set)
			}
		}
	}
}
