package theory

import "math"

// The formulas of deletable filters, in the symbols of the paper: m' = m - r cells, k hashes, n keys,
// r regions of s = m'/r cells. All take the positions of keys as independent and
// evenly spread.

// DeletableClear returns the probability that a cell is clear after n keys.
//
//	[DlBF10] Sec. III-A: p_0 = (1 - 1/m')^(kn)
//
// Exact.
func DeletableClear(cells, k, n float64) float64 { return DeletableMissed(cells, k*n) }

// DeletableOnce returns the probability that a cell was hit exactly once by n keys.
//
//	[DlBF10] Sec. III-A: p_1 = (kn)(1/m')(1 - 1/m')^(kn-1)
//
// Exact.
func DeletableOnce(cells, k, n float64) float64 { return k * n / cells * DeletableMissed(cells, k*n-1) }

// DeletableCollided returns the probability that a cell was hit more than once.
//
//	[DlBF10] Sec. III-A: p_c = 1 - p_0 - p_1
//
// Exact, but that a key's own repeated positions count as hits.
func DeletableCollided(cells, k, n float64) float64 {
	return max(0, 1-DeletableClear(cells, k, n)-DeletableOnce(cells, k, n))
}

// DeletableCleanRegion returns the probability that no cell of a region of s had a
// collision.
//
//	[DlBF10] Sec. III-A: (1 - p_c)^(m'/r)
//
// It takes the cells as independent: exact to order 1/m'.
func DeletableCleanRegion(cells, k, n, s float64) float64 {
	return math.Pow(1-DeletableCollided(cells, k, n), s)
}

// DeletableEq1Printed returns Eq. (1) as it stands in the paper.
//
//	[DlBF10] Eq. (1): p_d = (1 - (1 - p_c)^(m'/r))^k
//
// Erratum: this is the probability that none of k regions is clean, so that the
// key can not be deleted. See [DeletableEq1].
func DeletableEq1Printed(cells, k, n, s float64) float64 {
	return math.Pow(1-DeletableCleanRegion(cells, k, n, s), k)
}

// DeletableEq1 returns what Eq. (1) means: the probability that at least one of k random
// regions is clean. It is what the paper's Fig. 2 plots.
//
//	[DlBF10] Eq. (1), corrected: p_d = 1 - (1 - (1 - p_c)^(m'/r))^k
//
// Too high for keys that are in the filter: their own cells are hit already. See
// [DeletableShare].
func DeletableEq1(cells, k, n, s float64) float64 { return 1 - DeletableEq1Printed(cells, k, n, s) }

// DeletableShare returns the probability that a key of the n in the filter can be
// deleted, because at least one of its k cells lies in a clean region.
//
//	[DlBF10] Sec. III-A, given that the key itself hit its cells:
//	p_d = 1 - (1 - p)^k with p = (1 - 1/m')^(kn-1) (1 - p_c)^(m'/r-1)
//
// A cell that the key hit is clean only if none of the other kn-1 hits fell on it;
// Eq. (1) would also allow one. The k cells are taken as independent, and the
// key's own repetitions as collisions, which the filter does not do: an
// approximation. With a dozen regions or fewer it is up to 0.05 too high, because
// several cells of a key lie in one region; with some hundred cells in many regions
// a little low.
func DeletableShare(cells, k, n, s float64) float64 {
	p := deletableCleanCell(cells, k, n, s)
	return -math.Expm1(k * math.Log1p(-p))
}

// DeletableFPR returns the false-positive rate of m bits of which r code the regions.
//
//	[DlBF10] Eq. (2): [1 - (1 - 1/(m-r))^(kn)]^k
//
// As exact as the formula of the standard filter. Before anything is deleted;
// afterwards it is at most that.
func DeletableFPR(m, r, k, n float64) float64 {
	return math.Pow(-math.Expm1(k*n*math.Log1p(-1/(m-r))), k)
}

// deletableCleanCell returns the probability p of [DeletableShare].
func deletableCleanCell(cells, k, n, s float64) float64 {
	return DeletableMissed(cells, k*n-1) * DeletableCleanRegion(cells, k, n, s-1)
}

// DeletableMissed returns the probability that so many hits all miss one cell.
//
//	[DlBF10] Sec. III-A: (1 - 1/m')^hits
//
// Exact.
func DeletableMissed(cells, hits float64) float64 {
	if hits <= 0 {
		return 1
	}
	return math.Exp(hits * math.Log1p(-1/cells))
}
