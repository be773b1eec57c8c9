package theory

import "math"

// poisson returns the probability of i under the Poisson distribution with the
// given mean.
func poisson(mean float64, i int) float64 {
	logFactorial, _ := math.Lgamma(float64(i) + 1)
	return math.Exp(float64(i)*math.Log(mean) - mean - logFactorial)
}

// poissonRange returns an interval outside of which the Poisson distribution
// has less than 1e-20 of its mass.
func poissonRange(mean float64) (lo, hi int) {
	spread := 10*math.Sqrt(mean) + 30
	return int(max(0, mean-spread)), int(mean + spread)
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
