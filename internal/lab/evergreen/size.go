package evergreen

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var size = lab.Experiment{
	ID:       "evergreen/size",
	Title:    "Rate and memory while the set grows",
	Question: "Does the rate stay at the asked one at every size, and what does that cost in fast and in slow memory?",
	Says: "Package comment: \"keeps the rate it was asked for at every size\"; at 1 % 10.1 to 13.5 bits per key of fast memory, 12.2 on average over a doubling, " +
		"and 67 to 70 of slow memory, compact with 32 bits 39 to 42; at 0.1 % 15.7 to 21.6, 19.3 on average, and 68 to 72, compact 41 to 45. " +
		"README: about 80 bits per key in all at 1 %, of which queries read 12.",
	Quick: lab.Params{
		lab.Int("least keys", 1_000), lab.Int("most keys", 1_000_000), lab.Int("sizes", 20), lab.Int("queries", 20_000),
		lab.Floats("rates", 0.01, 0.001), lab.Ints("widths", 56, 32),
	},
	Full: lab.Params{
		lab.Int("least keys", 1_000), lab.Int("most keys", 50_000_000), lab.Int("sizes", 60), lab.Int("queries", 1_000_000),
		lab.Floats("rates", 0.01, 0.001), lab.Ints("widths", 56, 32),
	},
	Run: runSize,
}

// wanted is what is printed about the bits per key at a rate and a width.
type wanted struct {
	rate       float64
	width      int
	fast, slow [2]string // from, to
	mean       string    // of the fast bits
	all        [2]string // docs/design/0004-evergreen.md, table
}

var printed = []wanted{
	{0.01, 56, [2]string{"10.1", "13.5"}, [2]string{"67", "70"}, "12.2", [2]string{"78", "84"}},
	{0.01, 32, [2]string{"10.1", "13.5"}, [2]string{"39", "42"}, "12.2", [2]string{"49", "54"}},
	{0.001, 56, [2]string{"15.7", "21.6"}, [2]string{"68", "72"}, "19.3", [2]string{}},
	{0.001, 32, [2]string{"15.7", "21.6"}, [2]string{"41", "45"}, "19.3", [2]string{}},
}

// A growth is what one filter was like on its way.
type growth struct {
	shape          evergreen.Shape
	looks, glances []look
	denied, last   int // of all members at the end
}

func (g growth) name() string {
	if g.shape.Exact() {
		return percent(g.shape.FPR)
	}
	return fmt.Sprintf("%s, %d bits", percent(g.shape.FPR), g.shape.Width)
}

func runSize(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	var configs []evergreen.Config
	for _, rate := range e.Floats("rates") {
		for _, width := range e.Ints("widths") {
			configs = append(configs, evergreen.Config{FPR: rate, Width: width})
		}
	}
	all, err := lab.TryTrials(ctx, e, len(configs), func(i int, r *rand.Rand) (growth, error) {
		return growThrough(ctx, e, configs[i], newKeys(r))
	})
	if err != nil {
		return nil, err
	}
	result := &lab.Result{
		Tables: []lab.Table{sizeTable(all)},
		Plots:  []lab.Plot{ratePlot(all), fastPlot(all), allPlot(all)},
		Notes: []string{
			"Filters begin with nothing and are never told how many keys will come. At every size strangers are asked that were not asked before, and as many members.",
			"Error bars are about two standard deviations. \"56 bits\" are whole keys.",
			"Averages are over sizes at equal ratios, one in a hundred apart, over each doubling from the smallest filter to the largest.",
		},
	}
	for _, g := range all {
		result.Checks = append(result.Checks, growthChecks(g)...)
	}
	return result, nil
}

func growThrough(ctx context.Context, e *lab.Env, c evergreen.Config, k keys) (growth, error) {
	f, err := evergreen.New(c)
	if err != nil {
		return growth{}, err
	}
	w := &walker{f: f, keys: k}
	g := growth{shape: f.Shape()}
	g.looks, g.glances, err = w.up(ctx, sizes(e.Int("least keys"), e.Int("most keys"), e.Int("sizes")), e.Int("queries"))
	g.last = w.len()
	g.denied = w.denied(w.len())
	return g, err
}

// growthChecks judges the memory over the last doubling: at small sizes pages of 4
// KiB weigh more.
func growthChecks(g growth) []lab.Check {
	name, asked := g.name(), g.shape.FPR
	checks := []lab.Check{
		kept("rate, asked for "+name, "keeps the rate it was asked for at every size (package comment)", asked, g.looks),
		ownAccount("rate by the filter's own account, asked for "+name, asked, g.glances),
		neverDenied("no member denied on the way, "+name, g.looks),
		noneOf("no member denied at the largest size, "+name, "a key that is in the set is never denied (README)", g.denied, g.last, "members denied"),
	}
	for _, p := range printed {
		if p.rate == asked && p.width == g.shape.Width {
			checks = append(checks, p.check(name, g)...)
		}
	}
	return append(checks, foretold(name, g))
}

// check compares the bits per key of the last doubling.
func (p wanted) check(name string, g growth) []lab.Check {
	const comment = "package comment"
	half := g.last / 2
	fast := within("fast bits per key, "+name, p.fast[0], p.fast[1], comment, pick(g.glances, half, fastBits))
	doublings := lab.Mean(averages(g, fastBits))
	average := lab.Measured("fast bits per key on average over a doubling, "+name, p.mean, doublings)
	if share := g.alike(); share > 0.01 {
		reason := fmt.Sprintf("With %d keys, equal fingerprints of %d bits take %s of the rate, and the blocks get what is left (design 4): more memory than the figures for fewer keys.",
			g.last, g.shape.Width, percent(share))
		fast, average = fast.Because(reason), average.Because(reason)
	}
	checks := []lab.Check{
		fast, average,
		within("slow bits per key, "+name, p.slow[0], p.slow[1], comment, pick(g.glances, half, slowBits)),
	}
	if p.all[0] != "" {
		checks = append(checks, within("bits per key in all, "+name, p.all[0], p.all[1], "design 4", pick(g.glances, half, allBits)))
	}
	if p.rate == 0.01 && g.shape.Exact() {
		checks = append(checks,
			nearTen("bits per key in all on average, "+name, "about 80 (README)", 80, mean(pick(g.glances, half, allBits))),
			lab.Measured("bits per key that queries read on average, "+name, "12 (README)", doublings))
	}
	return checks
}

// averages are those over each whole doubling on the way, back from the largest size
// and as far as the filter is larger than the smallest. Each begins with other keys in
// other blocks than the one before: their spread is that of the measurement.
func averages(g growth, number func(look) float64) (means []float64) {
	for to := float64(g.last); ; to /= 2 {
		var values []float64
		whole := false
		for _, l := range g.glances {
			n := float64(l.keys)
			whole = whole || l.blocks > smallest && n <= to/2
			if n > to/2 && n <= to {
				values = append(values, number(l))
			}
		}
		if len(values) == 0 || !whole && len(means) > 0 {
			return means
		}
		means = append(means, mean(values))
	}
}

// nearTen is a check of a figure that is given as "about" so many tens.
func nearTen(name, printed string, about, ours float64) lab.Check {
	return lab.Holds(name, printed, lab.Digits(ours, 4), math.Abs(ours-about) <= 5, "\"about\": right to the nearest ten")
}

// alike is the share of the asked rate that keys with equal fingerprints take.
func (g growth) alike() float64 {
	if g.shape.Exact() {
		return 0
	}
	return float64(g.last) * math.Exp2(-float64(g.shape.Width+8)) / g.shape.FPR
}

// foretold shows how well Predict tells the memory.
func foretold(name string, g growth) lab.Check {
	worstFast, worstSlow := 0.0, 0.0
	for _, l := range g.looks {
		if l.keys < 20_000 {
			continue
		}
		p := predicted(g.shape, l.keys)
		worstFast = max(worstFast, math.Abs(l.fast/p.FastBitsPerKey-1))
		worstSlow = max(worstSlow, math.Abs(l.slow/p.SlowBitsPerKey-1))
	}
	return lab.Show("Shape.Predict against the filter, above 20,000 keys, "+name,
		fmt.Sprintf("off by at most %s of the fast bits and %s of the slow ones", percent(worstFast), percent(worstSlow)))
}

// predicted is what a filter of the shape, which was built, is like with n keys.
func predicted(s evergreen.Shape, n int) filter.Prediction {
	p, err := s.Predict(uint64(n))
	if err != nil {
		panic(err)
	}
	return p
}

func mean(values []float64) float64 { return lab.Mean(values).Mean }

func sizeTable(all []growth) lab.Table {
	t := lab.Table{
		Name: "sizes", Title: "The filter at each size",
		Columns: []string{"asked", "width", "keys", "blocks", "fast bits per key", "slow", "all", "measured rate", "rate by Info", "members denied"},
	}
	for _, g := range all {
		for _, l := range g.looks {
			t.Add(percent(g.shape.FPR), g.shape.Width, l.keys, l.blocks, l.fast, l.slow, l.fast+l.slow,
				percent(float64(l.yes)/float64(l.asked)), percent(l.says), l.denied)
		}
	}
	return t
}

// ratePlot has whole keys only: the others are alike, and in the table.
func ratePlot(all []growth) lab.Plot {
	p := lab.Plot{
		Name: "rate", Title: "The measured rate, as a share of the asked one",
		X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "false positives ÷ asked rate"},
	}
	for _, g := range all {
		if g.shape.Exact() {
			p.Series = append(p.Series, lab.Series{Name: g.name(), Style: lab.Dots, Points: rates(g.looks, g.shape.FPR)})
		}
	}
	ends := all[0].looks
	p.Series = append(p.Series, lab.Series{Name: "asked", Style: lab.Dashed, Color: 7, Points: []lab.Point{
		{X: float64(ends[0].keys), Y: 1}, {X: float64(ends[len(ends)-1].keys), Y: 1},
	}})
	return p
}

// fastPlot has one curve per rate: the width of fingerprints makes no difference.
func fastPlot(all []growth) lab.Plot {
	p := lab.Plot{
		Name: "fast", Title: "Fast memory, which queries read",
		X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "bits per key"},
	}
	for _, g := range all {
		if !g.shape.Exact() {
			continue
		}
		name := ""
		if len(p.Series) == 0 {
			name = "predicted"
		}
		predicted := line(g.glances, func(l look) float64 { return predicted(g.shape, l.keys).FastBitsPerKey })
		p.Series = append(p.Series,
			lab.Series{Name: g.name(), Points: line(g.glances, fastBits), Color: 1 + len(p.Series)/2},
			lab.Series{Name: name, Style: lab.Dashed, Points: predicted, Color: 7})
	}
	p.Y.Max = 40 // the smallest filter has 16 KiB, whatever the keys
	return p
}

func allPlot(all []growth) lab.Plot {
	p := lab.Plot{
		Name: "all", Title: "All memory, fast and slow",
		X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "bits per key", Max: 160},
	}
	for _, g := range all {
		p.Series = append(p.Series, lab.Series{Name: g.name(), Points: line(g.glances, allBits)})
	}
	return p
}
