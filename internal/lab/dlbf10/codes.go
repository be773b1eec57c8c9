package dlbf10

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/internal/theory"
)

// code is a way to say with a budget of bits which cells are clean. It never names a
// collided one.
type code struct {
	name string
	gain func(p picture, budget int) gain
}

// regionCode lays regions over the cells.
func regionCode(name string, of func(p picture, regions int) func(cell int) int) code {
	return code{name, func(p picture, budget int) gain { return p.gainOf(p.byRegions(budget, of(p, budget))) }}
}

var inRow = regionCode("regions in a row", func(p picture, regions int) func(int) int { return p.inRow(regions) })

// otherCodes are those of the study of codes; the first is the paper's.
var otherCodes = []code{
	inRow,
	regionCode("regions of set cells", func(p picture, regions int) func(int) int { return rankRegions(p.set, regions) }),
	{"the same, one by one", deleteOneByOne},
}

// layoutCodes are those of the study of ranges: the paper's regions, and the best of
// some layouts, whose number costs bits.
func layoutCodes(all, mostBits int, budgets []int) []code {
	list := []code{inRow}
	for b := mostBits / 2; b <= mostBits; b += max(1, mostBits/2) {
		layouts := map[int][][]int{}
		for _, budget := range budgets {
			layouts[budget] = makeLayouts(all-budget, budget-b, 1<<b)
		}
		list = append(list, code{fmt.Sprintf("best of %d layouts", 1<<b), func(p picture, budget int) gain { return p.bestLayout(budget-b, layouts[budget]) }})
	}
	return list
}

// makeLayouts returns so many ways to deal the cells to regions of equal size. Both
// sides can make them again.
func makeLayouts(cells, regions, number int) [][]int {
	size := (cells + regions - 1) / regions
	r := rand.New(rand.NewPCG(uint64(cells), uint64(regions)))
	layouts := make([][]int, number)
	for i := range layouts {
		layouts[i] = r.Perm(cells)
		for c := range layouts[i] {
			layouts[i][c] /= size
		}
	}
	return layouts
}

// bestLayout takes the layout in which most keys can be deleted.
func (p picture) bestLayout(regions int, layouts [][]int) (best gain) {
	for _, layout := range layouts {
		g := p.gainOf(p.byRegions(regions, func(cell int) int { return layout[cell] }))
		if g.deletable > best.deletable {
			best = g
		}
	}
	return best
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
// without knowing more than the old marks told.
func deleteOneByOne(p picture, regions int) (g gain) {
	now := picture{set: slices.Clone(p.set), collided: slices.Clone(p.collided)}
	clean := now.byRegions(regions, rankRegions(now.set, regions))
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
		g.deletable += 1 / float64(len(p.places))
		for i := range now.collided {
			now.collided[i] = now.set[i] && !clean[i]
		}
		clean = now.byRegions(regions, rankRegions(now.set, regions))
	}
	g.free = 1 - float64(count(now.set))/float64(count(p.set))
	return g
}

// exactCodes name every collided cell; bits is what they need for a filter.
var exactCodes = []struct {
	name string
	bits func(p picture) float64
}{
	{"a bit per cell, [Sum]", func(p picture) float64 { return float64(len(p.set)) }},
	{"a bit per set cell", func(p picture) float64 { return float64(count(p.set)) }},
	{"enumerative", func(p picture) float64 { return enumerative(len(p.set), count(p.collided)) }},
	{"enumerative among set cells", func(p picture) float64 { return enumerative(count(p.set), count(p.collided)) }},
}

// enumerative is the size of the number of a choice of part among whole, and of
// the count itself.
func enumerative(whole, part int) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v / math.Ln2 }
	return math.Ceil(lg(whole)-lg(part)-lg(whole-part)-1e-9) + float64(bits.Len(uint(whole)))
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
