package evergreen

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var asked = lab.Experiment{
	ID:       "evergreen/asked",
	Title:    "Any asked rate",
	Question: "Is every asked rate held, from one in two to one in 100,000, and what does it cost?",
	Says: "Config: \"FPR is the rate of false positives that the filter keeps at every size, from 1e-9 to 0.5\"; " +
		"the number of bits per key is the best by the exact mixture over the blocks' loads.",
	Quick: lab.Params{
		lab.Floats("rates", 0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001), lab.Int("keys", 50_000), lab.Int("sizes", 5), lab.Int("queries", 50_000),
	},
	Full: lab.Params{
		lab.Floats("rates", 0.5, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001, 0.00003, 0.00001),
		lab.Int("keys", 2_000_000), lab.Int("sizes", 12), lab.Int("queries", 5_000_000),
	},
	Run: runAsked,
}

// runAsked looks at every filter over one doubling, up to the number of keys.
func runAsked(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	wishes := e.Floats("rates")
	all, err := lab.TryTrials(ctx, e, len(wishes), func(i int, r *rand.Rand) (growth, error) {
		f, err := evergreen.New(evergreen.Config{FPR: wishes[i]})
		if err != nil {
			return growth{}, err
		}
		w := &walker{f: f, keys: newKeys(r)}
		g := growth{shape: f.Shape(), last: e.Int("keys")}
		g.looks, g.glances, err = w.up(ctx, sizes(g.last/2, g.last, e.Int("sizes")), e.Int("queries"))
		return g, err
	})
	if err != nil {
		return nil, err
	}
	result := &lab.Result{
		Tables: []lab.Table{askedTable(all)},
		Plots:  []lab.Plot{askedPlot(all), costPlot(all)},
		Notes:  []string{fmt.Sprintf("Each filter is looked at %d times over its last doubling; the table has the sums.", e.Int("sizes"))},
	}
	for _, g := range all {
		name := percent(g.shape.FPR)
		result.Checks = append(result.Checks,
			kept("rate, asked for "+name, "keeps the rate it was asked for at every size (package comment)", g.shape.FPR, g.looks),
			neverDenied("no member denied, asked for "+name, g.looks))
	}
	return result, nil
}

// sum adds up the answers of all looks.
func sum(looks []look) (yes, asked int) {
	for _, l := range looks {
		yes, asked = yes+l.yes, asked+l.asked
	}
	return yes, asked
}

func askedTable(all []growth) lab.Table {
	t := lab.Table{
		Name: "rates", Title: "Asked and measured, over one doubling",
		Columns: []string{"asked", "bits set per key", "yeses", "of", "measured", "fast bits per key, least", "average", "most", "blocked filter of fixed size"},
	}
	for _, g := range all {
		yes, asked := sum(g.looks)
		fast := pick(g.glances, 0, fastBits)
		least, most := fast[0], fast[0]
		for _, v := range fast {
			least, most = min(least, v), max(most, v)
		}
		fixed, _ := theory.BlockedBits(g.shape.FPR)
		t.Add(percent(g.shape.FPR), g.shape.Hashes, yes, asked, percent(float64(yes)/float64(asked)), least, mean(fast), most, fixed)
	}
	return t
}

func askedPlot(all []growth) lab.Plot {
	asked := lab.Series{Name: "asked", Style: lab.Dashed}
	measured := lab.Series{Name: "measured", Style: lab.Dots}
	for _, g := range all {
		yes, of := sum(g.looks)
		asked.Points = append(asked.Points, lab.Point{X: g.shape.FPR, Y: g.shape.FPR})
		if yes > 0 {
			measured.Points = append(measured.Points, lab.Share(g.shape.FPR, yes, of))
		}
	}
	return lab.Plot{
		Name: "rate", Title: "The rate that was asked for, and the one that came out",
		X: lab.Axis{Label: "asked rate", Log: true, Percent: true}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
		Series: []lab.Series{asked, measured},
	}
}

// costPlot compares with a blocked filter that was made for the number of keys.
func costPlot(all []growth) lab.Plot {
	grown := lab.Series{Name: "evergreen, least to most", Style: lab.LinePoints, Band: true}
	fixed := lab.Series{Name: "blocked, fixed size", Style: lab.Dashed}
	for _, g := range all {
		fast := pick(g.glances, 0, fastBits)
		p := lab.Point{X: g.shape.FPR, Y: mean(fast), Lo: fast[0], Hi: fast[0]}
		for _, v := range fast {
			p.Lo, p.Hi = min(p.Lo, v), max(p.Hi, v)
		}
		grown.Points = append(grown.Points, p)
		bits, _ := theory.BlockedBits(g.shape.FPR)
		fixed.Points = append(fixed.Points, lab.Point{X: g.shape.FPR, Y: bits})
	}
	return lab.Plot{
		Name: "cost", Title: "What growing a block at a time costs in fast memory",
		X: lab.Axis{Label: "asked rate", Log: true, Percent: true}, Y: lab.Axis{Label: "fast bits per key"},
		Series: []lab.Series{grown, fixed},
	}
}
