package deletable

import (
	"math"

	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// A plan is a geometry in whole numbers that may yet be too large.
type plan struct {
	cells   float64 // m'
	regions float64 // r
	hashes  int     // k
}

func (p plan) total() float64 { return p.cells + p.regions }

// planDeletability returns the plan with the fewest bits that meets both the rate
// and the asked share of keys that can be deleted.
//
// It goes through the numbers of hashes and, for each, through the sizes of
// regions. The cells that the rate needs fall with k as far as the k that is best
// for a standard filter and then rise: once they alone are more than the best
// plan, no further k can help.
func planDeletability(n, fpr, want float64) plan {
	best := plan{cells: math.Inf(1)}
	last := math.Inf(1)
	for k := 1; k <= sizing.MaxHashes; k++ {
		floor := cellsForRate(n, float64(k), fpr)
		if floor >= last && floor >= best.total() {
			break
		}
		last = floor
		if p := planHashes(n, k, floor, want); p.total() < best.total() {
			best = p
		}
	}
	return best
}

// planHashes returns the best plan with k hashes and at least floor cells. The
// first size of regions it tries is the largest that floor cells allow; larger
// ones need more cells, and pay while the saved marks outweigh them. Large sizes
// are tried in steps of a thirty-second, since their marks hardly count.
func planHashes(n float64, k int, floor, want float64) plan {
	best := plan{cells: math.Inf(1), hashes: k}
	for s := largestRegion(floor, float64(k), n, want); ; s += math.Ceil(s / 32) {
		cells := cellsFor(n, float64(k), s, floor, want)
		if cells >= best.total() {
			return best
		}
		if p := (plan{cells, math.Ceil(cells / s), k}); p.total() < best.total() {
			best = p
		}
		if s >= cells {
			return best
		}
	}
}

// planShare returns the plan with the best number of hashes for the rate, and the
// given share of all bits for the regions.
func planShare(n, fpr, share float64) plan {
	best := plan{cells: math.Inf(1)}
	for k := 1; k <= sizing.MaxHashes; k++ {
		cells := cellsForRate(n, float64(k), fpr)
		if cells > best.cells {
			break
		}
		best = plan{cells: cells, hashes: k}
	}
	best.regions = min(best.cells, max(1, math.Round(best.cells*share/(1-share))))
	return best
}

// cellsForRate returns the smallest m' at which n keys with k hashes have the
// rate f: Eq. (2) of [DlBF10], solved exactly.
func cellsForRate(n, k, f float64) float64 {
	return max(1, math.Ceil(-1/math.Expm1(math.Log1p(-math.Pow(f, 1/k))/(k*n))))
}

// cellsFor returns how many cells, floor or more, regions of s need for the
// asked deletability. The solution for many keys is the start; the exact one is
// near, but for few keys, and then found in steps that double and halve.
func cellsFor(n, k, s, floor, want float64) float64 {
	enough := func(cells float64) bool {
		return cells >= floor && theory.DeletableShare(cells, k, n, min(s, cells)) >= want+fewRegions(want, math.Ceil(cells/s))
	}
	cells := max(floor, math.Ceil(k*n/loadFor(k, s, want)))
	for !enough(cells) {
		cells += math.Ceil(cells / (1 << 16))
	}
	step := 1.0
	for ; enough(cells - step); step *= 2 {
		cells -= step
	}
	for ; step >= 1; step /= 2 {
		if enough(cells - step) {
			cells -= step
		}
	}
	return cells
}

// fewRegions returns what [theory.DeletableShare] may promise too much where there are few
// regions: it takes the positions of a key as independent, and those that share a
// region are not. Measured, the difference falls as the number of regions rises and
// is below this for shares from 0.2 on.
func fewRegions(want, regions float64) float64 {
	return (1 - want) * min(0.5, 1.5*want/regions)
}

// loadFor returns the load c = kn/m' at which the share of keys that can be
// deleted is as asked, for regions of s cells and many keys:
//
//	1 - (1 - p)^k = want with p = e^-c ((1 + c) e^-c)^(s-1)
//
// by Newton's method on -ln p, which rises and is convex in c. The start, the
// solution for s = 1, lies above the root, so that every step goes down to it.
func loadFor(k, s, want float64) float64 {
	target := -math.Log(cleanFor(k, want))
	c := target
	for range 100 {
		step := (s*c - (s-1)*math.Log1p(c) - target) / (s - (s-1)/(1+c))
		if c -= step; step <= 1e-12*c {
			break
		}
	}
	return c
}

// cleanFor returns the p with 1 - (1 - p)^k = want.
func cleanFor(k, want float64) float64 { return -math.Expm1(math.Log1p(-want) / k) }

// largestRegion returns the largest number of cells per region, at least 1, with
// which m cells give the asked deletability to n keys.
func largestRegion(m, k, n, want float64) float64 {
	own := -math.Log(theory.DeletableMissed(m, k*n-1) / cleanFor(k, want)) // the position itself
	each := math.Log1p(-theory.DeletableCollided(m, k, n))                 // and each other cell of its region
	s := math.Floor(1 + own/each)
	if !(s >= 1) { // also if own is not a number
		return 1
	}
	return min(s, m)
}
