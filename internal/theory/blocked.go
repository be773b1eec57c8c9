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
	switch {
	case math.IsNaN(load):
		return load
	case load <= 0:
		return 0
	case load >= maxLoad:
		return innerRates(perWord, maxLoad)[maxLoad]
	}
	lo, hi, first := poissonRange(load)
	var mass float64
	for i, p := lo, first; i <= hi; i++ {
		mass += p
		p *= load / float64(i+1)
	}
	inner := innerRates(perWord, hi)
	var rate float64
	for i, p := lo, first/mass; i <= hi; i++ {
		rate += p * inner[min(i, maxLoad)]
		p *= load / float64(i+1)
	}
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
	i := min(max(keys, 0), maxLoad)
	return innerRates(perWord, i)[i]
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

// shortLoad is how far the first part of a table goes: further than sizing a filter
// of an ordinary rate needs, and computed in a few microseconds.
const shortLoad = 255

// innerRates returns f_inner(i) for i = 0 … last at least.
func innerRates(perWord, last int) []float64 {
	if last <= shortLoad {
		return shortTables[perWord-1]()
	}
	return innerTables[perWord-1]()
}

// shortTables and innerTables compute each table when it is first needed.
var (
	shortTables = [MaxPerWord]func() []float64{
		innerTable(1, shortLoad), innerTable(2, shortLoad), innerTable(3, shortLoad), innerTable(4, shortLoad),
	}
	innerTables = [MaxPerWord]func() []float64{
		innerTable(1, maxLoad), innerTable(2, maxLoad), innerTable(3, maxLoad), innerTable(4, maxLoad),
	}
)

func innerTable(perWord, last int) func() []float64 {
	return sync.OnceValue(func() []float64 { return computeInner(perWord, last) })
}

// computeInner follows the exact distribution of the number of set bits in a
// word, throw by throw.
func computeInner(perWord, last int) []float64 {
	var hit [wordBits + 1]float64 // hit[x]: all of a query's bits in the word, given x are set
	for x := range hit {
		hit[x] = math.Pow(float64(x)/wordBits, float64(perWord))
	}
	inner := make([]float64, last+1)
	var set [wordBits + 1]float64 // set[x]: probability that x bits are set
	set[0] = 1
	for i := 1; i <= last; i++ {
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
