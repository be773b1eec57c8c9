package theory

import (
	"math"
	"sync"
)

// A block is 512 bits, 8 words of 64; a key sets the same number of bits,
// perWord, in each word of one block: k = 8 perWord.
const (
	BlockBits  = 512
	BlockWords = 8
	wordBits   = BlockBits / BlockWords

	// MaxPerWord is the largest number of bits per word considered.
	MaxPerWord = 4
)

// BlockedFPR returns the false-positive rate of a filter of 512-bit blocks that
// hold load keys each on average, for keys that set perWord bits (1 to
// [MaxPerWord]) in each of a block's 8 words.
//
//	[PSS07] Sec. 3: f_blo = sum_i Poisson(load, i) f_inner(i)
//
// with f_inner(i) = E[(X_i/64)^perWord]^8, X_i the number of set bits in a word
// after i keys. Exact for independent, evenly spread positions and many blocks, an
// approximation for few. A load that is not a number gives a rate that is none.
func BlockedFPR(load float64, perWord int) float64 {
	inner := innerRates(perWord)
	switch {
	case math.IsNaN(load):
		return load
	case load <= 0:
		return 0
	case load >= maxLoad:
		return inner[maxLoad]
	}
	var rate float64
	poisson(load, func(i int, p float64) { rate += p * inner[min(i, maxLoad)] })
	return rate
}

// BlockRate returns the false-positive rate of one 512-bit block that holds the
// given number of keys, for keys that set perWord bits in each of its 8 words.
//
//	[PSS07] Sec. 3: f_inner(i) = E[(X_i/64)^perWord]^8
//
// Exact for independent, evenly spread positions. Beyond 2048 keys it stays what
// it is there, which is 1 but for 1e-12.
func BlockRate(keys, perWord int) float64 {
	return innerRates(perWord)[min(max(keys, 0), maxLoad)]
}

// BlockedLoad returns the largest average number of keys per block at which the
// rate of [BlockedFPR] is still f. 0 < f < 1.
//
//	[PSS07] Sec. 3, solved for the load numerically.
func BlockedLoad(f float64, perWord int) float64 {
	lo, hi := 0.0, 1.0
	for hi < maxLoad && BlockedFPR(hi, perWord) < f {
		lo, hi = hi, 2*hi
	}
	for range 50 {
		mid := (lo + hi) / 2
		if BlockedFPR(mid, perWord) <= f {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// BlockedBits returns the bits per key for rate f with the best number of bits
// per word, and that number.
//
//	[PSS07] Sec. 3, minimised over k = 8, 16, 24, 32.
func BlockedBits(f float64) (bitsPerKey float64, perWord int) {
	bitsPerKey = math.Inf(1)
	for j := 1; j <= MaxPerWord; j++ {
		b := BlockBits / BlockedLoad(f, j)
		if b >= bitsPerKey {
			break // the best k grows as f falls: beyond it, it only gets worse
		}
		bitsPerKey, perWord = b, j
	}
	return bitsPerKey, perWord
}

// BlockedCardinality returns the number of keys that explains x set bits among
// m, in 512-bit blocks with perWord bits per word. Infinite if all bits are set.
//
//	[PSS07] Sec. 3: the mean of Poisson(load, i) (1 - 1/64)^(perWord i) is
//	e^(-load (1 - (1 - 1/64)^perWord)), the share of clear bits; solved for load m/512.
//
// An estimate, as [BloomCardinality].
func BlockedCardinality(m, x float64, perWord int) float64 {
	perKey := 1 - math.Pow(1-1.0/wordBits, float64(perWord))
	return -m / BlockBits * math.Log1p(-x/m) / perKey
}

// maxLoad is where every word is full for all purposes: (63/64)^maxLoad < 1e-13.
const maxLoad = 2048

// innerRates returns f_inner(i) for i = 0 … maxLoad.
func innerRates(perWord int) []float64 { return innerTables[perWord-1]() }

// innerTables computes each table when it is first needed.
var innerTables = [MaxPerWord]func() []float64{
	sync.OnceValue(func() []float64 { return computeInner(1) }),
	sync.OnceValue(func() []float64 { return computeInner(2) }),
	sync.OnceValue(func() []float64 { return computeInner(3) }),
	sync.OnceValue(func() []float64 { return computeInner(4) }),
}

// computeInner follows the exact distribution of the number of set bits in a
// word, throw by throw.
func computeInner(perWord int) []float64 {
	var hit [wordBits + 1]float64 // hit[x]: all of a query's bits in the word, given x are set
	for x := range hit {
		hit[x] = math.Pow(float64(x)/wordBits, float64(perWord))
	}
	inner := make([]float64, maxLoad+1)
	var set [wordBits + 1]float64 // set[x]: probability that x bits are set
	set[0] = 1
	for i := 1; i <= maxLoad; i++ {
		for range perWord {
			throw(&set)
		}
		var word float64
		for x, p := range set {
			word += p * hit[x]
		}
		inner[i] = math.Pow(min(word, 1), BlockWords)
	}
	return inner
}

// throw updates the distribution by one bit set at random.
func throw(set *[wordBits + 1]float64) {
	for x := wordBits; x >= 1; x-- {
		set[x] = set[x]*float64(x)/wordBits + set[x-1]*float64(wordBits-x+1)/wordBits
	}
	set[0] = 0
}
