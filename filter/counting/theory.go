package counting

import "math"

// The formulas of this kind. [dlCBF06] writes m for the number of keys and n for
// the number of counters; here n is keys and m is counters, as everywhere. The
// load c of a counter is kn/m, its expected value ([Shape.Load]), from 0 up to some
// thousands; at the optimum of k it is ln 2. The number of keys that hash to a
// counter is taken as Poisson with mean c, which is exact in the limit of many
// counters.

// OptimalFPR returns the rate of c counters per key with the best number of
// hashes, c ln 2.
//
//	[dlCBF06] Sec. 4: (2^(-ln 2))^c
//
// A lower bound for what a whole number of hashes gives.
func OptimalFPR(c float64) float64 {
	return math.Exp2(-math.Ln2 * c)
}

// OverflowProbability returns the probability that a counter of the given width
// is hashed to by exactly as many keys as overflow it, 2^bits.
//
//	[dlCBF06] Sec. 5.1: e^(-ln 2) (ln 2)^16 / 16! ≈ 6.79e-17, for load ln 2 and 4 bits
//
// The first term of the tail, and nearly all of it for loads up to 1 and 4 bits
// or more.
func OverflowProbability(load float64, bits int) float64 {
	return poisson(load, math.Exp2(float64(bits)))
}

// SaturationProbability returns the probability that a counter of the given width
// is at its top, 2^bits - 1, or would be above it. Here a counter stays there: that
// is one key earlier than the overflow of the paper.
//
//	[dlCBF06] Sec. 5.1, the tail from 2^bits-1 on: sum e^(-c) c^j / j!
//
// It holds for sets that only grow; churn adds to it what [Reached] tells.
func SaturationProbability(load float64, bits int) float64 {
	return poissonTail(load, math.Exp2(float64(bits))-1)
}

// OverflowBound returns an upper bound for the probability that any of m counters
// overflows.
//
//	[dlCBF06] Sec. 5.1, summed over j >= 2^bits and all counters: m sum e^(-c) c^j / j!
//
// The union bound, at most 1.
func OverflowBound(m, load float64, bits int) float64 {
	return min(1, m*poissonTail(load, math.Exp2(float64(bits))))
}

// ExpectedMax returns the expected value of the largest of m counters.
//
//	[dlCBF06] Sec. 5.1, Poisson approximation: sum over j >= 1 of 1 - (1 - P[X >= j])^m
//
// It takes the counters as independent, which they nearly are. The work grows with
// the square of the load.
func ExpectedMax(m, load float64) (expected float64) {
	if math.IsInf(load, 1) {
		return load
	}
	some := 1.0 // the probability that some counter is at least j
	for j := 1.0; some > 1e-12; j++ {
		some = -math.Expm1(m * math.Log1p(-poissonTail(load, j)))
		expected += some
	}
	return expected
}

// Reached returns how often a counter is expected to be raised to the given value
// in a number of increments, k for each Add, while the load stays the same: what
// happens in a set whose keys come and go.
//
//	[dlCBF06] Sec. 5.1, Poisson approximation: increments e^(-c) c^(value-1) / (value-1)!
//
// Exact in the steady state of the Poisson model, value >= 1. For small results it
// is the probability that the value is reached at all.
func Reached(increments, load float64, value int) float64 {
	return increments * poisson(load, float64(value-1))
}

// poisson returns the probability of j under the Poisson distribution.
func poisson(mean, j float64) float64 {
	if mean == 0 && j == 0 {
		return 1
	}
	logFactorial, _ := math.Lgamma(j + 1)
	return math.Exp(j*math.Log(mean) - mean - logFactorial)
}

// poissonTail returns the probability of j and more. Beyond the mean it adds up the
// terms from j on, so that small tails keep their digits.
func poissonTail(mean, j float64) (sum float64) {
	if math.IsInf(mean, 1) {
		return 1
	}
	if j <= mean {
		for i := range int(j) {
			sum += poisson(mean, float64(i))
		}
		return max(0, 1-sum)
	}
	for term := poisson(mean, j); term > sum*1e-17; j++ {
		sum += term
		term *= mean / (j + 1)
	}
	return sum
}
