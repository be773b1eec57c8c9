package theory

import (
	"iter"
	"math"
)

// Poisson gives the probabilities of the Poisson distribution with the given
// mean, number by number, all but a mass of less than 1e-20: how many keys a block
// holds when there are mean to a block.
//
//	[PSS07] Sec. 3: P(i keys) = mean^i e^(-mean) / i!
//
// Exact for many blocks. A mean that is not above 0 gives 0 with certainty.
func Poisson(mean float64) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		if !(mean > 0) {
			yield(0, 1)
			return
		}
		more := true
		poisson(mean, func(i int, p float64) { more = more && yield(i, p) })
	}
}

// poisson calls yield with the probabilities of the Poisson distribution with
// the given mean, all but a mass of less than 1e-20, scaled so that they add up
// to 1.
func poisson(mean float64, yield func(i int, p float64)) {
	spread := 10*math.Sqrt(mean) + 30
	lo, hi := int(max(0, mean-spread)), int(mean+spread)
	logFactorial, _ := math.Lgamma(float64(lo) + 1)
	first := math.Exp(float64(lo)*math.Log(mean) - mean - logFactorial)
	var mass float64
	for i, p := lo, first; i <= hi; i++ {
		mass += p
		p *= mean / float64(i+1)
	}
	for i, p := lo, first/mass; i <= hi; i++ {
		yield(i, p)
		p *= mean / float64(i+1)
	}
}

// BinomialInterval returns the interval in which the number of successes among n
// independent trials of probability p falls, but for about the given number of
// standard deviations' tail on either side: with sigmas = 4 once in 15,000 times
// outside. Trials that measure a rate are judged by it.
//
//	[Sum] Implementation: a measured P is a count of n independent queries.
//
// The normal approximation with Wilson's correction, so that small n p works too.
func BinomialInterval(n, p, sigmas float64) (lo, hi float64) {
	if n <= 0 {
		return 0, 0
	}
	z2 := sigmas * sigmas
	spread := sigmas * math.Sqrt(n*p*(1-p)+z2/4)
	return max(0, math.Floor(n*p-spread)), min(n, math.Ceil(n*p+spread+z2/2))
}
