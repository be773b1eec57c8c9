package theory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// TestBlockedBits holds the figures that sizing was designed with.
func TestBlockedBits(t *testing.T) {
	for _, c := range []struct {
		f         float64
		perWord   int
		want, tol float64
	}{
		{0.01, 1, 10.10, 0.005},
		{0.001, 1, 15.72, 0.005},
		{1e-5, 1, 35, 0.5},
		{1e-5, 2, 30, 0.5},
	} {
		got := theory.BlockBits / theory.BlockedLoad(c.f, c.perWord)
		near(t, fmt.Sprintf("bits per key at %g, %d per word", c.f, c.perWord), got, c.want, c.tol)
	}
	if _, perWord := theory.BlockedBits(0.001); perWord != 1 {
		t.Errorf("bits per word at 0.001: got %d, want 1", perWord)
	}
	if _, perWord := theory.BlockedBits(1e-5); perWord != 2 {
		t.Errorf("bits per word at 1e-5: got %d, want 2", perWord)
	}
}

// TestBlockedFPRMatchesSimulation fills words with ideal random bits.
func TestBlockedFPRMatchesSimulation(t *testing.T) {
	effort.OneGoroutine(t)
	const blocks = 2000
	probes := effort.Pick(100_000, 400_000)
	for perWord := 1; perWord <= 3; perWord++ {
		for _, load := range []float64{20, 50} {
			rng := rand.New(rand.NewPCG(1, uint64(perWord)))
			filter := make([][8]uint64, blocks)
			for range int(load * blocks) {
				b := &filter[rng.IntN(blocks)]
				for w := range b {
					b[w] |= pattern(rng, perWord)
				}
			}
			hits := 0
			for range probes {
				b := &filter[rng.IntN(blocks)]
				hit := true
				for w := range b {
					p := pattern(rng, perWord)
					hit = hit && b[w]&p == p
				}
				if hit {
					hits++
				}
			}
			want := theory.BlockedFPR(load, perWord)
			// The blocks' loads are drawn once, which adds to the spread of the queries:
			// by less than a twentieth of the rate at this number of blocks.
			n := float64(probes)
			lo, hi := theory.BinomialInterval(n, want, 4)
			lo, hi = lo-0.05*want*n, hi+0.05*want*n
			if float64(hits) < lo || float64(hits) > hi {
				t.Errorf("load %g, %d per word: %d hits of %d, want %.0f to %.0f", load, perWord, hits, probes, lo, hi)
			}
		}
	}
}

func pattern(rng *rand.Rand, perWord int) (p uint64) {
	for range perWord {
		p |= 1 << rng.UintN(64)
	}
	return p
}

func TestBlockedCardinalityInvertsExpectedFill(t *testing.T) {
	const blocks, load = 1 << 16, 40.0
	for perWord := 1; perWord <= theory.MaxPerWord; perWord++ {
		unset := math.Exp(-load * (1 - math.Pow(63.0/64, float64(perWord))))
		got := theory.BlockedCardinality(blocks*512, blocks*512*(1-unset), perWord)
		near(t, "cardinality", got, load*blocks, 1e-3)
	}
}

func TestBlockedFPRAtTheEnds(t *testing.T) {
	if got := theory.BlockedFPR(0, 1); got != 0 {
		t.Errorf("empty: got %v, want 0", got)
	}
	for _, load := range []float64{1e6, 1e300, math.Inf(1)} {
		near(t, "overfull", theory.BlockedFPR(load, 1), 1, 1e-9)
	}
}

func TestBlockRateAtTheEnds(t *testing.T) {
	for keys, want := range map[int]float64{-1: 0, 0: 0, 1: math.Pow(1.0/64, 8), 1 << 30: 1} {
		near(t, fmt.Sprintf("%d keys", keys), theory.BlockRate(keys, 1), want, 1e-9*want+1e-30)
	}
}
