package dlbf10

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var fig1 = lab.Experiment{
	ID:       "dlbf10/fig1",
	Paper:    "[DlBF10]",
	Title:    "The example with three elements",
	Question: "How often are all three keys of a filter with m = 32, k = 3, r = 4 deletable, and what does one look like?",
	Says:     "Fig. 1: m = 32, k = 3, r = 4, S = {x, y, z}; a region has collisions, and \"all elements are deletable as each has at least one bit in a collision-free zone\".",
	Quick:    fig1Params(2_000),
	Full:     fig1Params(200_000),
	Run:      runFig1,
	Claims: []lab.Claim{
		{Name: "filters like the printed one: a region with collisions, and all three can be deleted", Of: lab.Of("all deletable, with a collision"), Is: lab.Shows()},
		{Name: "filters in which all three can be deleted", Of: lab.Of("all deletable"), Is: lab.Shows()},
		noneLost,
	},
}

func fig1Params(trials int) lab.Params {
	return lab.Params{lab.Int("bits", 32), lab.Int("hashes", 3), lab.Int("regions", 4), lab.Int("keys", 3), lab.Int("trials", trials)}
}

// exampleKeys are the three of the figure.
var exampleKeys = []string{"x", "y", "z"}

func runFig1(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	s := shape(e, e.Int("regions"))
	drawing, salt, err := drawExample(s)
	if err != nil {
		return nil, err
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[outcome]{
		Name: "alike", Title: "Filters like the one of the figure", Trials: e.Int("trials"),
		Trial: func(_ lab.At, r *rand.Rand) (outcome, error) { return randomTrial(s, e.Int("keys"), r) },
		Metrics: []lab.Metric[outcome]{
			{Name: "all deletable, with a collision", Unit: lab.InPercent, Of: func(o outcome) float64 { return lab.OneIf(o.deletable == 1 && o.clean < 1) }},
			{Name: "all deletable", Unit: lab.InPercent, Of: func(o outcome) float64 { return lab.OneIf(o.deletable == 1) }},
			{Name: "false negatives", Of: lostKeys},
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Plots: []lab.Plot{{
		Name: "example", Title: fmt.Sprintf("Three keys in %d bits, %d hashes, %d regions", s.Bits, s.Hashes, s.Regions), Drawing: drawing,
		Notes: []string{fmt.Sprintf("The keys are the strings x, y and z; the salt is %d, the first with a marked region and three keys that can be deleted.", salt)},
	}}}, err
}

// drawExample looks for the first salt that gives what the figure shows.
func drawExample(s deletable.Shape) (svg string, salt uint64, err error) {
	var keys []filter.Key
	for _, word := range exampleKeys {
		keys = append(keys, filter.Hash{}.String(word))
	}
	for s.Salt = 0; s.Salt < 1<<16; s.Salt++ {
		f, err := filled(s, keys)
		if err != nil {
			return "", 0, err
		}
		raw, clean := f.AppendRaw(nil), f.CleanRegions()
		if clean < 1 && deleteAll(f, keys).deletable == 1 {
			return drawFilter(s, raw, keys), s.Salt, nil
		}
	}
	return "", 0, fmt.Errorf("dlbf10: no salt gives an example like Fig. 1 with %+v", s)
}

// Measures of the drawing, in its own units.
const (
	cellSize  = 17
	cellGap   = 6 // between regions
	keyHeight = 70
)

// drawFilter draws the m bits in a row, bitmap first, and lines from the keys to
// their cells. Lines to cells that deleting clears are whole, others dashed.
func drawFilter(s deletable.Shape, raw []byte, keys []filter.Key) string {
	var b strings.Builder
	width := cellX(s, int(s.Cells())-1) + 2*cellSize
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="Liberation Sans, sans-serif" font-size="11">`, width, keyHeight+4*cellSize)
	for i, k := range keys {
		x := width * (i + 1) / (len(keys) + 1)
		for _, c := range placesOf(k, s) {
			dash := ""
			if bit(raw, c/int(s.RegionBits())) {
				dash = ` stroke-dasharray="4 3"`
			}
			fmt.Fprintf(&b, `<line x1="%d" y1="20" x2="%d" y2="%d" class="eb-stroke-%d"%s/>`, x, cellX(s, c)+cellSize/2, keyHeight, i+1, dash)
		}
		fmt.Fprintf(&b, `<text x="%d" y="15" text-anchor="middle" class="eb-fill-%d" font-size="14">%s</text>`, x, i+1, exampleKeys[i])
	}
	for i := range int(s.Regions) {
		drawCell(&b, cellSize*i+cellSize/2, bit(raw, i), false)
	}
	for c := range int(s.Cells()) {
		drawCell(&b, cellX(s, c), bit(raw, int(s.Regions)+c), bit(raw, c/int(s.RegionBits())))
	}
	drawCaptions(&b, s, raw)
	return b.String() + "</svg>"
}

// cellX is the left edge of a cell.
func cellX(s deletable.Shape, c int) int {
	return cellSize*(int(s.Regions)+c+1) + cellGap*(c/int(s.RegionBits())) + cellSize/2
}

// drawCell draws one bit; those that can no longer be cleared are shaded.
func drawCell(b *strings.Builder, x int, set, kept bool) {
	class, digit := "eb-stroke-axis", 0
	if set {
		digit = 1
	}
	if kept {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" class="eb-fill-grid" fill-opacity="0.5"/>`, x, keyHeight, cellSize, cellSize)
	}
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" class="%s"/>`, x, keyHeight, cellSize, cellSize, class)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" class="eb-fill-ink">%d</text>`, x+cellSize/2, keyHeight+cellSize-5, digit)
}

// drawCaptions names bitmap and regions.
func drawCaptions(b *strings.Builder, s deletable.Shape, raw []byte) {
	put := func(x int, text string) {
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" class="eb-fill-ink">%s</text>`, x, keyHeight+2*cellSize, text)
	}
	put(cellSize*int(s.Regions)/2+cellSize/2, "bitmap")
	for r := range int(s.Regions) {
		first, last := r*int(s.RegionBits()), min((r+1)*int(s.RegionBits()), int(s.Cells()))-1
		text := "clean"
		if bit(raw, r) {
			text = "collision"
		}
		put((cellX(s, first)+cellX(s, last)+cellSize)/2, fmt.Sprintf("region %d: %s", r, text))
	}
}
