package dlbf10

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// ranging is a way to say which cells are clean with a given number of bits.
type ranging struct {
	name string
	cost int // bits that are not marks
	gain func(p picture) gain
}

// rangings lists the ways for a filter of so many cells beside a budget of bits:
// regions in a row as in the paper, the best of 4, 16, 64 ... layouts, clean runs.
func rangings(cells, budget, layoutBits int) []ranging {
	list := []ranging{{"in a row", 0, func(p picture) gain { return p.gainOf(p.byRegions(budget, p.inRow(budget))) }}}
	for b := 2; b <= layoutBits; b += 2 {
		layouts := makeLayouts(cells, budget-b, 1<<b)
		list = append(list, ranging{fmt.Sprintf("best of %d layouts", 1<<b), b, func(p picture) gain { return p.bestLayout(budget-b, layouts) }})
	}
	run := 2 * bits.Len(uint(cells-1)) // first cell and length
	return append(list, ranging{fmt.Sprintf("clean runs, up to %d", budget/run), budget, func(p picture) gain { return p.gainOf(p.cleanRuns(budget / run)) }})
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

// run is a row of cells without a collision.
type run struct{ first, end, set int }

// cleanRuns names the runs with the most set cells, at most so many.
func (p picture) cleanRuns(number int) []bool {
	runs := []run{{}}
	for i, collided := range p.collided {
		last := &runs[len(runs)-1]
		last.end = i
		if collided {
			runs = append(runs, run{first: i + 1, end: i + 1})
			continue
		}
		last.end = i + 1
		last.set += oneIf(p.set[i])
	}
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(b.set, a.set) })
	clean := make([]bool, len(p.set))
	for _, r := range runs[:min(number, len(runs))] {
		for i := r.first; i < r.end; i++ {
			clean[i] = true
		}
	}
	return clean
}
