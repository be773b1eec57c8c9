package dlbf10

import (
	"math/rand/v2"
	"slices"
)

// ideal is a filter with perfectly random positions, seen cell by cell.
type ideal struct {
	places [][]int // cells of each key
	hits   []int   // of each cell
}

// throw gives each of n keys k cells. A cell that a key has twice is hit twice if own:
// that is the paper's Insert, carried out bit by bit.
func throw(r *rand.Rand, cells, k, n int, own bool) ideal {
	p := ideal{make([][]int, n), make([]int, cells)}
	for i := range p.places {
		for range k {
			c := r.IntN(cells)
			if own || !slices.Contains(p.places[i], c) {
				p.hits[c]++
			}
			p.places[i] = append(p.places[i], c)
		}
	}
	return p
}

// share is the share of the keys that can be deleted: they have a cell in a region
// without a collision.
func (p ideal) share(region func(cell int) int) float64 {
	marked, n := make([]bool, len(p.hits)), 0
	for c, hits := range p.hits {
		if hits > 1 {
			marked[region(c)] = true
		}
	}
	for _, list := range p.places {
		if slices.ContainsFunc(list, func(c int) bool { return !marked[region(c)] }) {
			n++
		}
	}
	return float64(n) / float64(len(p.places))
}

// inRow gives the regions of the paper: as many cells to each, one after the other.
func inRow(cells, regions int) func(cell int) int {
	size := (cells + regions - 1) / regions
	return func(cell int) int { return cell / size }
}

// setCells divides the set cells alone: clear ones need no mark.
func (p ideal) setCells(regions int) func(cell int) int {
	rank, set := make([]int, len(p.hits)), 0
	for c, hits := range p.hits {
		rank[c] = set
		set += min(hits, 1)
	}
	return func(cell int) int { return rank[cell] * regions / max(set, 1) }
}

// bestLayout takes the layout in which most keys can be deleted. Both sides can make the
// layouts again.
func (p ideal) bestLayout(regions, layouts int) (best float64) {
	row := inRow(len(p.hits), regions)
	r := rand.New(rand.NewPCG(uint64(len(p.hits)), uint64(regions)))
	for range layouts {
		places := r.Perm(len(p.hits))
		best = max(best, p.share(func(cell int) int { return row(places[cell]) }))
	}
	return best
}

// lostBySignatures deletes half of the keys as [DlBF10] Sec. II describes variable-length
// signatures in one sentence: a bit of the key is reset, whichever other key has it. It
// returns the share of the other keys that are lost.
func (p ideal) lostBySignatures() float64 {
	half, lost := len(p.places)/2, 0
	absent := func(places []int) bool {
		return slices.ContainsFunc(places, func(c int) bool { return p.hits[c] == 0 })
	}
	for _, places := range p.places[:half] {
		if !absent(places) {
			p.hits[places[0]] = 0
		}
	}
	for _, places := range p.places[half:] {
		if absent(places) {
			lost++
		}
	}
	return float64(lost) / float64(len(p.places)-half)
}
