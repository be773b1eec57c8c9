package dlbf10

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var codes = lab.Experiment{
	ID:       "dlbf10/codes",
	Title:    "Other regions, and other codes for them",
	Question: "What is gained if the number of regions, or which cells belong to them, follows the collisions of each filter?",
	Says: "Sec. V leaves open \"a dynamic adaptation of the amount and the bit range of the deletable regions in function on how collisions happen\", " +
		"and \"if there are other compact and more flexible ways to code the information of the collision-free regions\".",
	Params: lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Int("keys", 22), lab.Ints("regions", 12, 18, 24, 36, 48, 60, 72, 90), lab.Ints("bits for the code", 24, 60).Full(24, 36, 48, 60, 72, 90),
		lab.Int("bits for a layout", 8), lab.Int("trials", 100).Full(paperTrials),
	},
	Run: runCodes,
	Plots: []lab.View{{
		Name: "gains", Title: "Keys that can be deleted from 240 bits, n = 22", X: "bits for the code", By: "code", XAxis: lab.Axis{Label: "bits for the code at most; the others are cells"},
		Y: lab.Axis{Label: "keys that can be deleted", Percent: true}, Curves: []lab.Curve{{Measured: "deletable"}},
	}},
	Claims: []lab.Claim{
		answer("filters in which 90 % can be deleted, with 60 bits", "a dynamic adaptation of the amount", lab.Of("filters that reach 90 %", "bits for the code", 60)),
		answer("bits for the code, with 60 at most", "a dynamic adaptation of the amount", lab.Of("bits taken", "bits for the code", 60)),
		answer("keys that can be deleted with 24 bits", "bit range of the deletable regions; other ways to code", lab.Of("deletable", "bits for the code", 24)),
		answer("keys that can be deleted with 60 bits", "bit range of the deletable regions; other ways to code", lab.Of("deletable", "bits for the code", 60)),
	},
}

func answer(name, printed string, of lab.Pick) lab.Claim {
	return lab.Claim{Kind: lab.Question, Name: name, Printed: printed, Where: "Sec. V", Of: of, Is: lab.Shows()}
}

const asked = 0.9 // deletability

// coded is a filter with some code for its regions.
func coded(deletable, bits float64) lab.Figures {
	return lab.Figures{"deletable": deletable, "filters that reach 90 %": lab.OneIf(deletable >= asked), "bits taken": bits}
}

func runCodes(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	layout := e.Int("bits for a layout")
	return lab.Find(ctx, e, lab.Sweep{
		Name: "codes", Title: "Keys that can be deleted, n = 22", Dims: []lab.Dim{lab.Along("bits for the code", e.Ints("bits for the code")...)}, Trials: e.Int("trials"),
		Trace: lab.Among("code", "regions in a row", "as many as 90 % takes", "regions of set cells", fmt.Sprintf("best of %d layouts", 1<<layout)),
		Follow: func(at lab.At, r *rand.Rand) ([]lab.Figures, error) {
			budget, n := at.Int("bits for the code"), e.Int("keys")
			adaptive, err := fewestRegions(e, lab.RandomKeys(r, n), budget)
			p := throw(r, e.Int("bits")-budget, e.Int("hashes"), n, false)
			bits := float64(budget)
			return []lab.Figures{coded(p.share(inRow(len(p.hits), budget)), bits), adaptive, coded(p.share(p.setCells(budget)), bits), coded(p.bestLayout(budget-layout, 1<<layout), bits)}, err
		},
		Metrics: []lab.Metric{{Name: "deletable", Unit: lab.InPercent}, {Name: "filters that reach 90 %", Unit: lab.InPercent}, {Name: "bits taken"}},
		Notes: []string{
			"As many as 90 % takes: the fewest regions that let 90 % of the keys be deleted, or else the best; three bits tell how many. Regions of set cells: clear ones need no mark, and they are drawn anew after each deletion.",
			"Layouts: the cells of a region need not be neighbours. Sender and receiver know a list of layouts, and the sender pays for the number of the best with marks.",
		},
	})
}

// fewestRegions builds filters with more and more regions, until what is asked can be
// deleted or the bits are spent, and takes the best.
func fewestRegions(e *lab.Env, keys []filter.Key, budget int) (lab.Figures, error) {
	best := coded(0, 0)
	const number = 3 // bits that tell how many regions
	for _, regions := range e.Ints("regions") {
		if regions+number > budget || best["deletable"] >= asked {
			break
		}
		s := shape(e, regions)
		s.Bits -= number
		o, err := try(s, keys, nil)
		if err != nil {
			return best, err
		}
		if o["deletable"] > best["deletable"] {
			best = coded(o["deletable"], float64(regions+number))
		}
	}
	return best, nil
}

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
