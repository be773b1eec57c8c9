package dlbf10

import (
	"math"
	"math/bits"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// exactCodes name every collided cell; bits is what they need for a filter.
var exactCodes = []struct {
	name string
	bits func(p picture) float64
}{
	{"a bit per cell, [Sum]", func(p picture) float64 { return float64(len(p.set)) }},
	{"a bit per set cell", func(p picture) float64 { return float64(count(p.set)) }},
	{"list of cells", func(p picture) float64 {
		width := bits.Len(uint(len(p.set) - 1))
		return float64(width * (p.collisions() + 1)) // and their number
	}},
	{"Rice-coded gaps", func(p picture) float64 { return riceBits(p.collided) }},
	{"enumerative", func(p picture) float64 { return enumerative(len(p.set), p.collisions()) }},
	{"enumerative among set cells", func(p picture) float64 { return enumerative(count(p.set), p.collisions()) }},
}

// enumerative is the size of the number of a choice of part among whole, and of
// the count itself.
func enumerative(whole, part int) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v / math.Ln2 }
	return math.Ceil(lg(whole)-lg(part)-lg(whole-part)-1e-9) + float64(bits.Len(uint(whole)))
}

// riceBits is the size of the gaps between the listed cells in a Rice code with
// the best parameter, which takes three bits, and an end mark of one more gap.
func riceBits(list []bool) float64 {
	best := math.Inf(1)
	for low := range 8 {
		size, gap := 3, 0
		for _, on := range append(list[:len(list):len(list)], true) {
			if !on {
				gap++
				continue
			}
			size += gap>>low + 1 + low
			gap = 0
		}
		best = min(best, float64(size))
	}
	return best
}

// lossyCodes use as many bits as they are given. The first is the paper's.
var lossyCodes = []struct {
	name      string
	deletable func(p picture, budget int) float64
}{
	{"regions in a row", func(p picture, budget int) float64 { return p.gainOf(p.byRegions(budget, p.inRow(budget))).deletable }},
	{"regions of set cells", func(p picture, budget int) float64 {
		return p.gainOf(p.byRegions(budget, rankRegions(p.set, budget))).deletable
	}},
	{"the same, one by one", deleteOneByOne},
	{"finer, compressed", func(p picture, budget int) float64 { return p.gainOf(p.compressed(budget)).deletable }},
}

// rankRegions divides the set cells alone: cells that are clear need no mark, and
// the owner of the filter knows which are set.
func rankRegions(set []bool, regions int) func(cell int) int {
	total, rank := count(set), 0
	of := make([]int, len(set))
	for i, on := range set {
		of[i] = -1
		if on {
			of[i] = rank * regions / total
			rank++
		}
	}
	return func(cell int) int { return of[cell] }
}

// deleteOneByOne deletes the keys in turn from a filter with regions of set cells.
// Each time the set cells become fewer, and the regions have to be drawn anew
// without knowing more than the old marks told. It returns the share of keys that
// were deleted.
func deleteOneByOne(p picture, regions int) float64 {
	now := picture{set: append([]bool{}, p.set...), collided: append([]bool{}, p.collided...)}
	clean := now.byRegions(regions, rankRegions(now.set, regions))
	deleted := 0
	for _, places := range p.places {
		cleared := false
		for _, c := range places {
			if clean[c] {
				now.set[c], cleared = false, true
			}
		}
		if !cleared {
			continue
		}
		deleted++
		for i := range now.collided {
			now.collided[i] = now.set[i] && !clean[i]
		}
		clean = now.byRegions(regions, rankRegions(now.set, regions))
	}
	return float64(deleted) / float64(max(1, len(p.places)))
}

// regionSizes are those that three bits choose from in the compressed code.
var regionSizes = []int{1, 2, 3, 4, 6, 8, 12, 24}

// compressed takes the smallest regions whose bitmap, coded enumeratively, fits.
// If none does, no cell is known to be clean.
func (p picture) compressed(budget int) []bool {
	for _, size := range regionSizes {
		regions := (len(p.set) + size - 1) / size
		of := func(cell int) int { return cell / size }
		marked := make([]bool, regions)
		for i, c := range p.collided {
			marked[of(i)] = marked[of(i)] || c
		}
		if enumerative(regions, count(marked))+3 <= float64(budget) {
			return p.byRegions(regions, of)
		}
	}
	return make([]bool, len(p.set))
}

// limit is the deletability that a code of so many bits cannot exceed if it treats
// all set cells alike. It takes cells as independent and a key's own repetitions as
// collisions, as [theory.DeletableShare] does: for some hundred cells a little low.
//
// Of the set cells a share q is collided. A code that names a share c of them as
// clean, all rightly, must carry H(q) - (1-c) H(q/(1-c)) bits for each: what is
// left to be known is which of the others are collided. A position of a key is
// named with probability (1 - 1/m')^(kn-1) c/(1-q).
func (v numbers) limit(budget float64) float64 {
	zero, collided := theory.DeletableClear(v.cells, v.k, v.n), theory.DeletableCollided(v.cells, v.k, v.n)
	set, q := v.cells*(1-zero), collided/(1-zero)
	low, high := 0.0, 1-q
	for range 60 {
		c := (low + high) / 2
		if set*(entropy(q)-(1-c)*entropy(q/(1-c))) < budget {
			low = c
		} else {
			high = c
		}
	}
	alone := math.Exp((v.k*v.n - 1) * math.Log1p(-1/v.cells))
	return 1 - math.Pow(1-alone*low/(1-q), v.k)
}

// entropy is that of a coin, in bits.
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}
