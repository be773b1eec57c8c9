package theory

import "math"

// d-left counting filters, filter/dleft. Here n counts keys and B the buckets of a
// subtable; [dlCBF06] writes m for the keys and n for all buckets or counters.

// DLeftRateBound returns the upper bound of the false-positive rate that geometry is
// chosen by: d buckets of average load are compared with r bits each.
//
//	[dlCBF06] Sec. 4: f < 24·2^-r for d = 4 and load 6; here d·load·2^-r
func DLeftRateBound(d int, load float64, r int) float64 {
	return math.Ldexp(float64(d)*load, -r)
}

// DLeftRate returns the expected false-positive rate with n keys in subtables of
// B buckets and remainders of r bits.
//
//	[dlCBF06] Sec. 3.2, third claim: 1 - (1 - 1/BR)^m, R = 2^r
//
// The paper ignores that remainder 0 means an empty cell. Here the fingerprints
// whose low bits are 1 get the keys of those whose low bits are 0 as well: one in
// R of the hash's values leads to each of two kinds. So the rate is
//
//	(1 - 2/R)·(1 - (1 - 1/BR)^n) + (2/R)·(1 - (1 - 2/BR)^n)
//
// which is exact, the mean over all sets of n keys with random hashes.
func DLeftRate(n, buckets float64, r int) float64 {
	size := math.Ldexp(1, r)
	space := buckets * size
	hit := func(p float64) float64 { return -math.Expm1(n * math.Log1p(-p)) }
	if space <= 2 { // the one fingerprint that is left has every key
		return math.Min(n, 1)
	}
	return (1-2/size)*hit(1/space) + 2/size*hit(2/space)
}

// DLeftBitsPerKey returns the bits per key that rate f costs with four subtables,
// eight cells to a bucket, load 6 and counters of two bits, for remainders of a
// real number of bits.
//
//	[dlCBF06] Sec. 4: (4 log2(1/f) + 20 + 4 log2 3)/3
func DLeftBitsPerKey(f float64) float64 {
	return (4*math.Log2(1/f) + 20 + 4*math.Log2(3)) / 3
}

// DLeftEqualFingerprints returns a bound of the probability that among n keys some
// c share one of so many fingerprints.
//
//	[dlCBF06] Sec. 5.1: C(m, 5)·(1/BR)^5
//
// As printed that is wrong: for c keys to be equal, c-1 must equal the first, so
// the power is the fourth. For the paper's parameters it prints 5.62e-17, the
// right bound is 1.89e-9.
//
//	C(n, c)·(1/BR)^(c-1)
func DLeftEqualFingerprints(n, space float64, c int) float64 {
	p := n
	for i := 1; i < c; i++ {
		p *= (n - float64(i)) / float64(i+1) / space
	}
	return p
}

// DLeftInsertLoads returns the share of buckets that hold at least 1, 2, … keys after
// keys were inserted into d subtables up to an average load, by the fluid limit.
//
//	[dlCBF06] Sec. 2.3, whose equations are in none of its versions at hand:
//	with x_ji the share of the buckets of subtable j that hold at least i keys,
//	dx_ji/dt = (x_j,i-1 - x_ji) prod_{k<j} x_ki prod_{k>j} x_k,i-1
//
// A key goes to a bucket of j that holds i-1 if all to the left hold more and all
// to the right as many. Time is keys per bucket of a subtable: it ends at d·load.
// Exact in the limit of many buckets and independent choices.
func DLeftInsertLoads(d int, load float64, levels int) []float64 {
	return newFluid(d, load, levels).insert().mean(levels)
}

// DLeftSteadyLoads returns the same after random deletions, each followed by the
// insertion of a new key, for ever.
//
//	[dlCBF06] Sec. 2.3 and Table 1: the equations of [DLeftInsertLoads] with
//	-(i/(d·load))·(x_ji - x_j,i+1) on the right
//
// since of n keys one is deleted per step, and the buckets of j that hold exactly
// i keys have i·B·(x_ji - x_j,i+1) of them.
func DLeftSteadyLoads(d int, load float64, levels int) []float64 {
	return newFluid(d, load, levels).insert().steady().mean(levels)
}

// DLeftInsertOverflow returns the probability that while n keys are inserted into d
// subtables of B buckets some bucket gets more than so many cells.
//
//	[dlCBF06] Sec. 2.3 and 5.2: 1 - e^-E, E = B·sum_j sum_{i>cells} x_ji
//
// E is the expected number of keys above the cells by the fluid limit, taken as
// that of a rare event.
func DLeftInsertOverflow(d, cells int, buckets, n float64) float64 {
	if n > float64(d*cells)*buckets {
		return 1
	}
	x := newFluid(d, n/(float64(d)*buckets), cells+1).insert()
	over := 0.0
	for j := range x.d {
		for i := cells + 1; i <= x.levels; i++ {
			over += x.at(j, i)
		}
	}
	return -math.Expm1(-buckets * over)
}

// DLeftSteadyOverflow returns the probability that some bucket gets more than so many
// cells within the given number of deletions and insertions, with n keys in the
// set all the time.
//
//	[dlCBF06] Sec. 2.3 and 5.2: 1 - e^-E, E = steps·prod_j x_j,cells
//
// A key is one too many if all its buckets are full. The paper estimates E by
// steps times the share of buckets that hold one too many.
func DLeftSteadyOverflow(d, cells int, buckets, n, steps float64) float64 {
	if n > float64(d*cells)*buckets {
		return 1
	}
	x := newFluid(d, n/(float64(d)*buckets), cells+1).insert().steady()
	full := 1.0
	for j := range x.d {
		full *= x.at(j, cells)
	}
	return -math.Expm1(-steps * full)
}

// DLeftChurnFull returns how many keys are expected to find all their buckets full
// during the given number of deletions and insertions, that begin when n keys have
// been inserted. Inserted keys lie more evenly than those of a steady state: early
// steps count less.
//
//	[dlCBF06] Sec. 5.2: the integral of prod_j x_j,cells over the steps
func DLeftChurnFull(d, cells int, buckets, n, steps float64) (keys float64) {
	x := newFluid(d, n/(float64(d)*buckets), cells+1).insert()
	full := func() float64 {
		p := 1.0
		for j := range x.d {
			p *= x.at(j, cells)
		}
		return p
	}
	x.leave = buckets / n
	const looks = 256
	dt := steps / buckets / looks
	inner := math.Ceil(dt / min(0.5, 1/(x.leave*float64(x.levels))))
	before := full()
	for range looks {
		x.run(int(inner), dt/inner)
		after := full()
		keys += (before + after) / 2 * steps / looks
		before = after
	}
	return keys
}
