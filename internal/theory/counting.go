package theory

import "math"

// The formulas of counting filters. [dlCBF06] writes m for the number of keys and n for
// the number of counters; here n is keys and m is counters, as everywhere. The
// load c of a counter is kn/m, its expected value, from 0 up to some
// thousands; at the optimum of k it is ln 2. The number of keys that hash to a
// counter is taken as Poisson with mean c, which is exact in the limit of many
// counters.

// CountingOptimalFPR returns the rate of c counters per key with the best number of
// hashes, c ln 2.
//
//	[dlCBF06] Sec. 4: (2^(-ln 2))^c
//
// A lower bound for what a whole number of hashes gives.
func CountingOptimalFPR(c float64) float64 {
	return math.Exp2(-math.Ln2 * c)
}

// CountingOverflow returns the probability that a counter of the given width
// is hashed to by exactly as many keys as overflow it, 2^bits.
//
//	[dlCBF06] Sec. 5.1: e^(-ln 2) (ln 2)^16 / 16! ≈ 6.79e-17, for load ln 2 and 4 bits
//
// The first term of the tail, and nearly all of it for loads up to 1 and 4 bits
// or more.
func CountingOverflow(load float64, bits int) float64 {
	return poissonAt(load, math.Exp2(float64(bits)))
}

// CountingOverflowBound returns an upper bound for the probability that any of m counters
// overflows.
//
//	[dlCBF06] Sec. 5.1, summed over j >= 2^bits and all counters: m sum e^(-c) c^j / j!
//
// The union bound, at most 1.
func CountingOverflowBound(m, load float64, bits int) float64 {
	return min(1, m*poissonTail(load, math.Exp2(float64(bits))))
}

// CountingReached returns how often a counter is expected to be raised to the given value
// in a number of increments, k for each Add, while the load stays the same: what
// happens in a set whose keys come and go.
//
//	[dlCBF06] Sec. 5.1, Poisson approximation: increments e^(-c) c^(value-1) / (value-1)!
//
// Exact in the steady state of the Poisson model, value >= 1. For small results it
// is the probability that the value is reached at all.
func CountingReached(increments, load float64, value int) float64 {
	return increments * poissonAt(load, float64(value-1))
}

// poissonAt returns the probability of j under the Poisson distribution.
func poissonAt(mean, j float64) float64 {
	if mean == 0 && j == 0 {
		return 1
	}
	logFactorial, _ := math.Lgamma(j + 1)
	return math.Exp(j*math.Log(mean) - mean - logFactorial)
}

// poissonTail returns the probability of j and more. Beyond the mean it adds up the
// terms from j on, so that small tails keep their digits.
func poissonTail(mean, j float64) (sum float64) {
	if j <= mean {
		for i := range int(j) {
			sum += poissonAt(mean, float64(i))
		}
		return max(0, 1-sum)
	}
	for term := poissonAt(mean, j); term > sum*1e-17; j++ {
		sum += term
		term *= mean / (j + 1)
	}
	return sum
}
