package theory

import "math"

// BloomBits returns the number of bits that n keys need for rate f, when the
// number of hashes is the best one.
//
//	[Sum] Implementation: m = -n ln(P) / (ln 2)^2
//
// The optimum of the approximation (1 - e^(-kn/m))^k over real k. 0 < f < 1.
func BloomBits(n, f float64) float64 {
	return -n * math.Log(f) / (math.Ln2 * math.Ln2)
}

// BloomHashes returns the number of hashes with which m bits and n keys give
// the lowest rate, as a real number.
//
//	[Sum] Implementation: k = (m/n) ln 2
func BloomHashes(m, n float64) float64 {
	return m / n * math.Ln2
}

// BloomFPR returns the false-positive rate of m bits with k hashes after n keys.
//
//	[Sum] Implementation: P = (1 - [1 - 1/m]^(kn))^k
//
// It takes the k bits of a query as independent, which they nearly are: exact
// to a relative error of order k²/m.
func BloomFPR(m, k, n float64) float64 {
	return math.Pow(BloomFill(m, k, n), k)
}

// BloomFill returns the expected share of set bits among m after n keys with k
// hashes each.
//
//	[Sum] Implementation, the bracket of P: 1 - [1 - 1/m]^(kn)
//
// Exact.
func BloomFill(m, k, n float64) float64 {
	if n == 0 {
		return 0 // also for m = 1
	}
	return -math.Expm1(k * n * math.Log1p(-1/m))
}

// BloomCardinality returns the number of keys that explains x set bits among m
// with k hashes: the solution of BloomFill = x/m for large m. Infinite if all
// bits are set.
//
//	[Sum] Implementation, solved for n: n* = -(m/k) ln(1 - x/m)
//
// An estimate; its relative spread is about sqrt(e^c - c - 1)/(c sqrt(m)) with
// c = kn/m.
func BloomCardinality(m, k, x float64) float64 {
	return -m / k * math.Log1p(-x/m)
}
