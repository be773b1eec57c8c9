package theory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// halvedLoad is the definition of BlockedLoad: every rate is computed.
func halvedLoad(f float64, perWord int) float64 {
	lo, hi := 0.0, 1.0
	for hi < 2048 && mixedRate(hi, perWord) < f {
		lo, hi = hi, 2*hi
	}
	for range 50 {
		mid := (lo + hi) / 2
		if mixedRate(mid, perWord) <= f {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// mixedRate is the definition of BlockedFPR.
func mixedRate(load float64, perWord int) (rate float64) {
	if load >= 2048 {
		return theory.BlockRate(2048, perWord)
	}
	for i, p := range theory.Poisson(load) {
		rate += p * theory.BlockRate(i, perWord)
	}
	return rate
}

// halvedBits is the definition of BlockedBits.
func halvedBits(f float64) (bitsPerKey float64, perWord int) {
	bitsPerKey = math.Inf(1)
	for j := 1; j <= theory.MaxPerWord; j++ {
		b := theory.BlockBits / halvedLoad(f, j)
		if b >= bitsPerKey {
			break
		}
		bitsPerKey, perWord = b, j
	}
	return bitsPerKey, perWord
}

// TestSizesAreThoseOfHalvingToTheLastBit: filters that were built apart, also by
// other releases, merge only if their sizes agree.
func TestSizesAreThoseOfHalvingToTheLastBit(t *testing.T) {
	rates := []float64{
		0.5, 0.3, 0.25, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.003, 0.002, 0.001,
		1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-19,
		0.9, 0.99, 0.999, 0.9999, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12, math.Nextafter(1, 0),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	random := 300
	if effort.Brief() {
		random = 30
	}
	for range random {
		rates = append(rates, math.Pow(10, -16*rng.Float64()), rng.Float64())
	}
	for _, f := range rates {
		for again := range 2 { // computed and remembered
			wantBits, wantWord := halvedBits(f)
			if bits, perWord := theory.BlockedBits(f); bits != wantBits || perWord != wantWord {
				t.Errorf("rate %g, call %d: %v bits per key and %d per word, want %v and %d", f, again, bits, perWord, wantBits, wantWord)
			}
		}
	}
	for _, f := range rates[:31] {
		for perWord := 1; perWord <= theory.MaxPerWord; perWord++ {
			if got, want := theory.BlockedLoad(f, perWord), halvedLoad(f, perWord); got != want {
				t.Errorf("rate %g, %d per word: load %v, want %v", f, perWord, got, want)
			}
		}
	}
}
