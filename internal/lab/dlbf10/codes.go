package dlbf10

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/probe"
)

var codes = lab.Experiment{
	ID:       "dlbf10/codes",
	Paper:    paper,
	Title:    "Other regions, and other codes for them",
	Question: "What is gained if the number of regions, or which cells belong to them, follows the collisions of each filter?",
	Says: "Sec. V leaves open \"a dynamic adaptation of the amount and the bit range of the deletable regions in function on how collisions happen\", " +
		"and \"if there are other compact and more flexible ways to code the information of the collision-free regions\".",
	Quick: codeParams(100, 24, 60),
	Full:  codeParams(paperTrials, 12, 24, 36, 48, 60, 72, 90),
	Run:   runCodes,
	Plots: []lab.View{{
		Name: "gains", Title: "Keys that can be deleted from 240 bits, n = 22", X: "bits for the code", By: "code", XAxis: lab.Axis{Label: "bits for the code; the others are cells"},
		Y: lab.Axis{Label: "keys that can be deleted", Percent: true}, Curves: []lab.Curve{{Measured: "deletable with"}},
	}},
	Claims: []lab.Claim{
		answer("filters in which 90 % can be deleted, adaptive amount", "a dynamic adaptation of the amount", lab.Of("filters that reach 90 %", "regions", "adaptive"), lab.Of("filters that reach 90 %", "regions", "36"), lab.Of("filters that reach 90 %", "regions", "60")),
		answer("regions that the adaptive amount takes", "a dynamic adaptation of the amount", lab.Of("r", "regions", "adaptive")),
		answer("keys that can be deleted with 24 bits", "bit range of the deletable regions; other ways to code", lab.Of("deletable with", "bits for the code", 24)),
		answer("keys that can be deleted with 60 bits", "bit range of the deletable regions; other ways to code", lab.Of("deletable with", "bits for the code", 60)),
	},
}

func answer(name, printed string, of lab.Pick, show ...lab.Pick) lab.Claim {
	return lab.Claim{Kind: lab.Question, Name: name, Printed: printed, Where: "Sec. V", Of: of, Is: lab.Shows(), Show: show}
}

func codeParams(trials int, budgets ...int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Int("keys", 22), lab.Ints("regions", 12, 18, 24, 36, 48, 60, 90, 118),
		lab.Float("asked deletability", 0.9), lab.Ints("bits for the code", budgets...), lab.Int("bits for a layout", 8), lab.Int("trials", trials),
	}
}

func runCodes(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	amounts, err := adaptiveAmounts(ctx, e)
	if err != nil {
		return nil, err
	}
	m, k, n, layout := e.Int("bits"), e.Int("hashes"), e.Int("keys"), e.Int("bits for a layout")
	list := []string{"regions in a row", "regions of set cells", "the same, one by one", fmt.Sprintf("best of %d layouts", 1<<layout)}
	ranges, err := lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "codes", Title: fmt.Sprintf("Keys that can be deleted, n = %d", n), Dims: []lab.Dim{lab.Along("bits for the code", e.Ints("bits for the code")...)}, Trace: lab.Among("code", list...), Trials: e.Int("trials"),
		Follow: func(at lab.At, r *rand.Rand) ([]float64, error) {
			budget := at.Int("bits for the code")
			p, err := takePicture(m-budget, k, lab.RandomKeys(r, n))
			if err != nil {
				return nil, err
			}
			return []float64{p.share(inRow(len(p.set), budget)), p.share(rankRegions(p.set, budget)), p.oneByOne(budget), p.bestLayout(budget-layout, 1<<layout)}, nil
		},
		Metrics: []lab.Metric[float64]{{Name: "deletable with", Unit: lab.InPercent, Of: func(share float64) float64 { return share }}},
		Notes: []string{
			"Regions of set cells: clear ones need no mark. One by one: after each deletion the regions are drawn anew without knowing more than the old marks told.",
			"Layouts: the cells of a region need not be neighbours. Sender and receiver know a list of layouts, and the sender pays for the number of the best with marks.",
		},
	})
	return &lab.Result{Grids: []*lab.Grid{amounts, ranges}}, err
}

// amount is a filter with one number of regions.
type amount struct{ regions, deletable float64 }

// adaptiveAmounts builds filters with each number of regions, and takes the fewest that
// reach what is asked; three bits tell which it was.
func adaptiveAmounts(ctx context.Context, e *lab.Env) (*lab.Grid, error) {
	asked, menu := e.Float("asked deletability"), e.Ints("regions")
	return lab.Sweep(ctx, e, lab.Spec[amount]{
		Name: "amounts", Title: "How many regions", Trace: lab.Among("regions", append(strings.Fields(strings.Trim(fmt.Sprint(menu), "[]")), "adaptive")...), Trials: e.Int("trials"),
		Follow: func(_ lab.At, r *rand.Rand) ([]amount, error) {
			return buildMenu(e, lab.RandomKeys(r, e.Int("keys")), menu, asked)
		},
		Metrics: []lab.Metric[amount]{
			{Name: "deletable", Unit: lab.InPercent, Of: func(a amount) float64 { return a.deletable }},
			{Name: "filters that reach 90 %", Unit: lab.InPercent, Of: func(a amount) float64 { return lab.OneIf(a.deletable >= asked) }},
			{Name: "r", Of: func(a amount) float64 { return a.regions }},
		},
	})
}

func buildMenu(e *lab.Env, keys []filter.Key, menu []int, asked float64) (list []amount, err error) {
	var chosen amount
	for _, r := range menu {
		s := shape(e, r)
		whole, err := try(s, keys, nil)
		if err != nil {
			return nil, err
		}
		list = append(list, amount{float64(r), whole.deletable})
		s.Bits -= 3
		paid, err := try(s, keys, nil)
		if err != nil {
			return nil, err
		}
		if chosen.deletable < asked && paid.deletable > chosen.deletable {
			chosen = amount{float64(r), paid.deletable}
		}
	}
	return append(list, chosen), nil
}

// picture is a filter seen cell by cell. It comes from a filter with regions of one bit, so
// that any other way to tell clean cells from collided ones can be tried on it.
type picture struct {
	set, collided []bool
	places        [][]int // of each key
}

// takePicture adds the keys to a filter of so many cells.
func takePicture(cells, hashes int, keys []filter.Key) (p picture, err error) {
	s := deletable.Shape{Bits: 2 * uint64(cells), Hashes: hashes, Regions: uint64(cells)}
	f, err := filled(s, keys)
	if err != nil {
		return p, err
	}
	raw := f.AppendRaw(nil)
	bit := func(i int) bool { return raw[i/8]>>(i%8)&1 == 1 }
	for i := range cells {
		p.collided, p.set = append(p.collided, bit(i)), append(p.set, bit(cells+i))
	}
	for _, k := range keys { // as the filter derives them
		var places []int
		h := probe.NewMixer(s.Salt).Mix(k)
		for range hashes {
			places = append(places, int(probe.Reduce(h, s.Cells())))
			h = probe.Step(h)
		}
		p.places = append(p.places, places)
	}
	return p, nil
}

// cleanCells are those of regions without a collision; cells in a region below 0 are in none.
func cleanCells(cells int, collided func(cell int) bool, region func(cell int) int) []bool {
	marked, clean := make([]bool, cells+1), make([]bool, cells)
	for c := range clean {
		if collided(c) {
			marked[region(c)+1] = true
		}
	}
	for c := range clean {
		clean[c] = region(c) >= 0 && !marked[region(c)+1]
	}
	return clean
}

// shareWith is the share of the keys with a clean cell.
func shareWith(places [][]int, clean []bool) float64 {
	n := 0
	for _, list := range places {
		if slices.ContainsFunc(list, func(c int) bool { return clean[c] }) {
			n++
		}
	}
	return float64(n) / float64(len(places))
}

func (p picture) clean(region func(cell int) int) []bool {
	return cleanCells(len(p.set), func(c int) bool { return p.collided[c] }, region)
}

// share is the deletability with some regions.
func (p picture) share(region func(cell int) int) float64 {
	return shareWith(p.places, p.clean(region))
}

// inRow gives the regions of the paper: as many cells to each, one after the other.
func inRow(cells, regions int) func(cell int) int {
	size := (cells + regions - 1) / regions
	return func(cell int) int { return cell / size }
}

// rankRegions divides the set cells alone.
func rankRegions(set []bool, regions int) func(cell int) int {
	of, total := make([]int, len(set)), 0
	for i, on := range set {
		of[i] = -1
		if on {
			of[i] = total
			total++
		}
	}
	return func(cell int) int {
		if of[cell] < 0 {
			return -1
		}
		return of[cell] * regions / total
	}
}

// bestLayout takes the layout in which most keys can be deleted. Both sides can make the
// layouts again.
func (p picture) bestLayout(regions, layouts int) (best float64) {
	row := inRow(len(p.set), regions)
	r := rand.New(rand.NewPCG(uint64(len(p.set)), uint64(regions)))
	for range layouts {
		places := r.Perm(len(p.set))
		best = max(best, p.share(func(cell int) int { return row(places[cell]) }))
	}
	return best
}

// oneByOne deletes the keys in turn from a filter with regions of set cells.
func (p picture) oneByOne(regions int) float64 {
	now, deleted := picture{set: slices.Clone(p.set), collided: slices.Clone(p.collided)}, 0
	clean := now.clean(rankRegions(now.set, regions))
	for _, places := range p.places {
		if !slices.ContainsFunc(places, func(c int) bool { return clean[c] }) {
			continue
		}
		deleted++
		for _, c := range places {
			now.set[c] = now.set[c] && !clean[c]
		}
		for i := range now.collided {
			now.collided[i] = now.set[i] && !clean[i]
		}
		clean = now.clean(rankRegions(now.set, regions))
	}
	return float64(deleted) / float64(len(p.places))
}
