package theory

import (
	"math"
	"slices"
)

// The Elastic Bloom filter, filter/elastic. In this file n counts keys, m bits, k hashes, f is the rate (δ in the paper) and
// w the width of a hash number.

// ElasticHashes returns the number of hashes that needs the fewest bits for rate f, as a
// real number.
//
//	[EBF21] Sec. 4.3: k = -log2(1/δ)
//
// As printed that is negative; it is log2(1/δ).
func ElasticHashes(f float64) float64 { return -math.Log2(f) }

// ElasticBits returns the number of bits that n keys need for rate f with k hashes.
//
//	[EBF21] Sec. 4.3: m = kn/ln(1 - δ^(1/k))
//
// As printed that is negative; it is -kn/ln(1 - δ^(1/k)), an approximation for
// large m.
func ElasticBits(n, f float64, k int) float64 {
	return -float64(k) * n / math.Log1p(-ElasticThreshold(f, k))
}

// ElasticThreshold returns the share of set bits at which a filter with k hashes has rate
// f and is expanded.
//
//	[EBF21] Sec. 4.3: Ω = δ^(1/k)
func ElasticThreshold(f float64, k int) float64 { return math.Pow(f, 1/float64(k)) }

// ElasticBucketSize returns the number of slots D that the paper gives a bucket of an
// array of m, so that no bucket overflows but for probability eps.
//
//	[EBF21] Sec. 4.3: D = (e n k / m) ln((ε/m)^-0.5) / ln ln((ε/m)^-0.5)
//
// It rests on [ElasticLemma], whose condition a > 4 means e n k/m > 4: more than 1.47
// fingerprints to a bucket, a share of set bits above 0.77. At lower loads, that
// is at all thresholds in use, it promises too much: with the paper's own Ω = 0.2
// and m = 2^15 it gives 2.7 slots, and in 3 slots some bucket overflows nearly
// always ([ElasticTreeOverflow]).
func ElasticBucketSize(n, m, eps float64, k int) float64 {
	x := -0.5 * math.Log(eps/m)
	return math.E * n * float64(k) / m * x / math.Log(x)
}

// ElasticLemma reports whether (a/M)^M <= b for the M that the lemma names.
//
//	[EBF21] Lemma 4.1: for b in (0, 1/9), a > 4, M >= a ln(b^-0.5)/ln ln(b^-0.5)
//
// Below a = 4 it need not.
func ElasticLemma(a, b float64) bool {
	x := -0.5 * math.Log(b)
	M := a * x / math.Log(x)
	return M*math.Log(a/M) <= math.Log(b)
}

// ElasticOverflowBound returns a bound of the probability that some of m buckets gets at
// least M of the fingerprints of n keys.
//
//	[EBF21] Theorem 4.1, Eq. (3): m C(kn, M) (1/m)^M <= m (e n k / M)^M
//
// The right side as printed lacks an m, without which it is far above 1: it is
// m (e n k/(m M))^M. This returns the left side.
func ElasticOverflowBound(n, m float64, k, M int) float64 {
	kn := float64(k) * n
	a, _ := math.Lgamma(kn + 1)
	b, _ := math.Lgamma(float64(M) + 1)
	c, _ := math.Lgamma(kn - float64(M) + 1)
	return math.Exp(math.Log(m) + a - b - c - float64(M)*math.Log(m))
}

// ElasticTreeOverflow returns the probability that a bucket tree of b branches overflows:
// what its buckets cannot hold is more than D. b = 1 has no level 2.
//
//	[EBF21] Sec. 3.3.2, exactly for independent Poisson loads: P(sum of (X_i - D)^+ > D)
func ElasticTreeOverflow(load float64, D, b int) float64 {
	spill := make([]float64, D+2) // the last stands for more than D
	for i := range 2*D + tailTerms {
		spill[min(max(0, i-D), D+1)] += poissonAt(load, float64(i))
	}
	if b == 1 {
		return sum(spill[1:])
	}
	all := []float64{1}
	for range b {
		all = convolve(all, spill)
	}
	return all[D+1]
}

// tailTerms is how many terms beyond 2D are added up; the rest vanishes for every
// load in use.
const tailTerms = 64

// sum adds small numbers first.
func sum(p []float64) (s float64) {
	for _, x := range slices.Backward(p) {
		s += x
	}
	return s
}

// convolve returns the distribution of the sum of two variables. The last place of
// q and of the result stands for all that is beyond.
func convolve(p, q []float64) []float64 {
	out := make([]float64, len(q))
	for i, x := range p {
		for j, y := range q {
			out[min(i+j, len(q)-1)] += x * y
		}
	}
	return out
}
