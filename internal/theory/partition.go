package theory

import "math"

// Dynamic partition Bloom filters, filter/partition.

// PartitionUnitBits returns the bits that a unit needs for n ids, k hashes and rate f.
//
//	[DPBF19] Eq. (1): m(n, k, f) = ceil(-nk / ln(1 - f^(1/k)))
//
// The inverse of the approximation f = (1 - e^(-kn/m))^k. 0 < f < 1.
func PartitionUnitBits(n, k, f float64) float64 {
	return math.Ceil(-n * k / math.Log1p(-math.Pow(f, 1/k)))
}

// PartitionMinUnits returns the least number of populated units of n ids, in a universe of
// so many ids and a tree of depth d.
//
//	[DPBF19] Eq. (2): s >= ceil(|S| 2^d / |U|)
//
// A lower bound, reached by sets that fill their units.
func PartitionMinUnits(n, universe float64, d int) float64 {
	return math.Ceil(math.Ldexp(n, d) / universe)
}

// PartitionUniformUnits returns the expected number of populated units of n ids that are
// spread evenly over the universe.
//
//	[DPBF19] Sec. 2.2, s of Eq. (2) for a random set: 2^d (1 - (1 - 2^-d)^n)
//
// Exact for ids drawn with replacement.
func PartitionUniformUnits(n float64, d int) float64 {
	units := math.Ldexp(1, d)
	return -units * math.Expm1(n*math.Log1p(-1/units))
}

// PartitionPaperBits returns the memory of the paper's layout, whose map has s units and
// whose tree has c, all of m bits.
//
//	[DPBF19] Sec. 2.2, Space: (s + c) m, at most 2 s m
//
// Without the pointers of the tree and the map, for which the paper gives O(s). The
// paper's formula has ln(1 - f^(1/k)) without a minus sign, and is negative as
// printed.
func PartitionPaperBits(s, c, m float64) float64 { return (s + c) * m }
