package theory

import "math"

// The formulas of dynamic filters, with f for the paper's f_t, the rate of a full unit,
// and alpha for the number of units that the keys would fill, n/n_t. All take the
// answers of different units as independent. They nearly are: a query has the
// same positions in all, and one whose positions coincide is more often mistaken
// in each, which matters for units of a few dozen positions only.

// DynamicCapacity returns the number of keys with which a unit of m positions and k
// hashes reaches the rate f.
//
//	[DPBF19] Theorem A.1: n_t = -(m/k) ln(1 - f_t^(1/k))
//
// For the approximation (1 - e^(-kn/m))^k of the rate it is exact.
func DynamicCapacity(m, k, f float64) float64 {
	return -m / k * math.Log1p(-math.Pow(f, 1/k))
}

// DynamicFPRBound returns the rate of the full units alone.
//
//	[DPBF19] Theorem A.1: f_D >= 1 - (1 - f_t)^floor(alpha)
//
// A lower bound for the rate of all, and the rate itself if alpha is whole.
func DynamicFPRBound(f, alpha float64) float64 {
	return -math.Expm1(math.Floor(alpha) * math.Log1p(-f))
}

// DynamicLinearFPR returns the linear approximation of [DynamicFPRBound].
//
//	[DPBF19] Theorem A.1: 1 - (1 - f_t)^floor(alpha) ≈ floor(alpha) f_t
//
// An upper bound of DynamicFPRBound, by Bernoulli's inequality, and hence no lower bound
// of the rate, as the proof's last line has it: see docs/papers/dbf10.md.
func DynamicLinearFPR(f, alpha float64) float64 { return math.Floor(alpha) * f }

// DynamicFPR returns the rate after n keys, for units of m positions and k hashes that
// take unitKeys keys each.
//
//	[DPBF19] App. A, proof: 1 - (1 - f_unit)^floor(alpha) (1 - f_last)
//
// As exact as the rate of a unit.
func DynamicFPR(m, k, unitKeys, n float64) float64 {
	full := math.Floor(n / unitKeys)
	none := full * math.Log1p(-BloomFPR(m, k, unitKeys))
	if last := n - full*unitKeys; last > 0 {
		none += math.Log1p(-BloomFPR(m, k, last))
	}
	return -math.Expm1(none)
}

// DynamicMissUnits returns how many units are asked about an absent key, on average: all,
// but for those after one that is mistaken.
//
//	[DPBF19] App. A, proof, by probing each unit: sum over i < units of (1 - f)^i
//
// Exact for full units.
func DynamicMissUnits(f, units float64) float64 {
	if f == 0 {
		return units
	}
	return -math.Expm1(units*math.Log1p(-f)) / f
}

// DynamicHitUnits returns how many units are asked about a key that is in one of them,
// each as likely, on average.
//
//	[DPBF19] App. A, proof, by probing each unit: the mean of DynamicMissUnits(f, i) for i = 1 to units
//
// Exact for full units; (units + 1)/2 if f is 0.
func DynamicHitUnits(f, units float64) float64 {
	if f*units < 1e-6 { // the formula below would lose its digits
		return (units + 1) / 2
	}
	return (1 - (1-f)*DynamicMissUnits(f, units)/units) / f
}
