package theory

import (
	"math"
	"sync/atomic"
)

// BlockedLoad returns the largest average number of keys per block at which the
// rate of [BlockedFPR] is still f. 0 < f < 1.
//
//	[PSS07] Sec. 3, solved for the load numerically.
//
// It is the outcome of 50 halvings, to the last bit: sizes of filters depend on it, and
// filters merge only if these agree. Where the outcome of a comparison is known from
// [loadBracket], the rate is not computed.
func BlockedLoad(f float64, perWord int) float64 {
	below, above := loadBracket(f, perWord)
	rate := func(load float64) float64 {
		switch {
		case load < below:
			return 0
		case load > above:
			return 1
		}
		return BlockedFPR(load, perWord)
	}
	lo, hi := 0.0, 1.0
	for hi < maxLoad && rate(hi) < f {
		lo, hi = hi, 2*hi
	}
	for range 50 {
		if mid := (lo + hi) / 2; rate(mid) <= f {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// loadBracket returns two loads close to each other: the rate is at most f at every
// load up to below, and more from above on. The rate rises with the load but for
// rounding, at most 1e-13 of it, and the bracket is wider than that. If none is found it
// is all loads.
func loadBracket(f float64, perWord int) (below, above float64) {
	load, slope := solveLoad(f, perWord)
	if slope > 0 {
		for margin := 1e-13 / slope; margin < 1e-6; margin *= 32 {
			below, above = load*(1-margin), load*(1+margin)
			if BlockedFPR(below, perWord) <= f && BlockedFPR(above, perWord) > f {
				return below, above
			}
		}
	}
	return 0, math.Inf(1)
}

// solveLoad approximates the load of rate f by Newton's method on logarithms, from that
// of blocks that all hold the same number of keys. It also returns the slope there,
// or 0 if it found no load.
//
//	d f_blo / d load = sum_i Poisson(load, i) (f_inner(i+1) - f_inner(i))
func solveLoad(f float64, perWord int) (load, slope float64) {
	k := float64(BlockWords * perWord)
	load = -BlockBits / k * math.Log1p(-math.Pow(f, 1/k))
	for range 12 {
		if !(load > 0 && load < maxLoad/2) {
			return 0, 0
		}
		lo, hi, p := poissonRange(load)
		inner := innerRates(perWord, hi+1)
		var rate, next float64 // both times the mass
		var mass float64
		for i := lo; i <= hi; i++ {
			mass += p
			rate += p * inner[i]
			next += p * inner[i+1]
			p *= load / float64(i+1)
		}
		slope = load * (next - rate) / rate
		step := math.Log(f*mass/rate) / slope
		load *= math.Exp(step)
		if math.Abs(step) < 1e-8 { // the next one would be its square
			return load, slope
		}
	}
	return 0, 0
}

// BlockedBits returns the bits per key for rate f with the best number of bits
// per word, and that number.
//
//	[PSS07] Sec. 3, minimised over k = 8, 16, 24, 32.
func BlockedBits(f float64) (bitsPerKey float64, perWord int) {
	place := &recentBits[math.Float64bits(f)*0x9E3779B97F4A7C15>>(64-recentBitsLog)]
	if s := place.Load(); s != nil && s.rate == f {
		return s.bitsPerKey, s.perWord
	}
	bitsPerKey, perWord = blockedBits(f)
	place.Store(&blockedSize{f, bitsPerKey, perWord})
	return bitsPerKey, perWord
}

// recentBits keeps a few results of BlockedBits: programs ask for few rates.
var recentBits [1 << recentBitsLog]atomic.Pointer[blockedSize]

const recentBitsLog = 4

type blockedSize struct {
	rate, bitsPerKey float64
	perWord          int
}

func blockedBits(f float64) (bitsPerKey float64, perWord int) {
	load, perWord := BlockedLoad(f, 1), 1
	for j := 2; j <= MaxPerWord; j++ {
		if BlockedFPR(load, j) > f*(1+1e-9) {
			break // the best k grows as f falls: beyond it, it only gets worse
		}
		l := BlockedLoad(f, j)
		if BlockBits/l >= BlockBits/load {
			break
		}
		load, perWord = l, j
	}
	return BlockBits / load, perWord
}
