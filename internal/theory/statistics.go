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
	lo, hi, first := poissonRange(mean)
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

// poissonRange returns between which numbers all but a mass of less than 1e-20 lies,
// and the probability of the first.
func poissonRange(mean float64) (lo, hi int, first float64) {
	spread := 10*math.Sqrt(mean) + 30
	lo, hi = int(max(0, mean-spread)), int(mean+spread)
	logFactorial, _ := math.Lgamma(float64(lo) + 1)
	return lo, hi, math.Exp(float64(lo)*math.Log(mean) - mean - logFactorial)
}

// BinomialInterval returns the interval in which the number of successes among n
// independent trials of probability p falls, but for as much on either side as is
// beyond the given number of standard deviations of the normal distribution: with
// sigmas = 4 it is outside at most once in 15,000 times. Trials that measure a rate
// are judged by it.
//
//	[Sum] Implementation: a measured P is a count of n independent queries.
//
// Exact, by summing the binomial distribution from its ends.
func BinomialInterval(n, p, sigmas float64) (lo, hi float64) {
	n = math.Floor(n)
	switch {
	case n <= 0 || p <= 0:
		return 0, 0
	case p >= 1:
		return n, n
	}
	tail := math.Erfc(sigmas/math.Sqrt2) / 2
	hi = binomialUpper(n, p, tail)
	return n - binomialUpper(n, 1-p, tail), hi // the failures are binomial, too
}

// binomialUpper returns the smallest number that is exceeded with probability tail
// at most. It goes up from the most likely number to one beyond which there is
// nothing to speak of, and sums on the way back, small terms first.
func binomialUpper(n, p, tail float64) float64 {
	odds := p / (1 - p)
	k := min(n, math.Floor((n+1)*p))
	term := math.Exp(logBinomial(n, k, p))
	for k < n && term > tail*1e-9 {
		term *= (n - k) / (k + 1) * odds
		k++
	}
	for above := term; above <= tail && k > 0; above += term {
		term *= k / ((n - k + 1) * odds)
		k--
	}
	return k
}

// logBinomial is the logarithm of the probability of k successes among n.
func logBinomial(n, k, p float64) float64 {
	choose := func(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }
	return choose(n) - choose(k) - choose(n-k) + k*math.Log(p) + (n-k)*math.Log1p(-p)
}

// StudentReach returns how many standard errors the mean of n trials may be off
// where the spread is known from these trials only, so that it is as rarely further
// as sigmas standard deviations of a normal distribution are: Student's t.
//
//	[DlBF10] Sec. IV: averages of 2000 trials
//	sigmas = 4: 17.4 with 5 trials, 5.1 with 20, 4.2 with 100
//
// Exact for trials that are distributed normally. It is infinite for fewer than two.
func StudentReach(sigmas float64, n int) float64 {
	const many = 10_000 // the difference is below a two-thousandth
	switch {
	case n < 2:
		return math.Inf(1)
	case n > many:
		return sigmas
	}
	outside := math.Erfc(sigmas / math.Sqrt2)
	lo, hi := sigmas, sigmas
	for studentOutside(hi, n-1) > outside {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1e-9*hi {
		if t := (lo + hi) / 2; studentOutside(t, n-1) > outside {
			lo = t
		} else {
			hi = t
		}
	}
	return hi
}

// studentOutside is the probability that Student's t with so many degrees of freedom
// is further from 0 than t, by the finite sums for whole degrees.
func studentOutside(t float64, freedom int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(freedom)))
	sin, cos := math.Sincos(angle)
	odd := freedom % 2
	term, sum := math.Pow(cos, float64(odd)), 0.0
	for power := odd; power <= freedom-2; power += 2 {
		sum += term
		term *= cos * cos * float64(power+1) / float64(power+2)
	}
	if odd == 1 {
		return 1 - 2/math.Pi*(angle+sin*sum)
	}
	return 1 - sin*sum
}
