package dlbf10

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var fig4 = lab.Experiment{
	ID:       "dlbf10/fig4",
	Paper:    "[DlBF10]",
	Title:    "False positives before and after removing",
	Question: "What does the bitmap cost in false positives, and what does deleting gain?",
	Says: "Fig. 4: observed average rate of a 240-bit filter with r = 24 and k = 5 before and after removing elements, and of a standard filter of 240 bits; " +
		"2,000 trials, 500 words tested each. Sec. IV: \"an affordable increase before elements are removed, and a potential improvement when element bits are deleted\".",
	Quick: fig4Params(500, 10, 16, 22, 28, 34, 40),
	Full:  fig4Params(paperTrials, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40),
	Data:  []string{wordFile},
	Run:   runFig4,
}

func fig4Params(trials int, keys ...int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Int("regions", 24), lab.Ints("keys", keys...),
		lab.Int("tested words", 500), lab.Int("trials", trials),
	}
}

// rates are the shares of tested words that one trial said yes to.
type rates struct{ before, after, standard float64 }

// ratePoint is what the trials with n keys gave.
type ratePoint struct {
	n                       int
	before, after, standard lab.Estimate
	eq2, classic            float64 // the formulas
	exact, exactStandard    float64 // what they approximate
}

func runFig4(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	words, origin, err := openKeys(e)
	if err != nil {
		return nil, err
	}
	s := deletable.Shape{Bits: uint64(e.Int("bits")), Hashes: e.Int("hashes"), Regions: uint64(e.Int("regions"))}
	var points []ratePoint
	for i, n := range e.Ints("keys") {
		e.Progress(i, len(e.Ints("keys")))
		trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (rates, error) {
			members := sample(r, words, n)
			return measureRates(s, members, absent(r, words, e.Int("tested words"), members))
		})
		if err != nil {
			return nil, err
		}
		points = append(points, ratePoint{
			n:        n,
			before:   lab.Figure(trials, func(r rates) float64 { return r.before }),
			after:    lab.Figure(trials, func(r rates) float64 { return r.after }),
			standard: lab.Figure(trials, func(r rates) float64 { return r.standard }),
			eq2:      s.FPR(uint64(n)),
			classic:  theory.BloomFPR(float64(s.Bits), float64(s.Hashes), float64(n)),

			exact:         exactRate(int(s.Cells()), s.Hashes, n),
			exactStandard: exactRate(int(s.Bits), s.Hashes, n),
		})
	}
	return &lab.Result{
		Plots: []lab.Plot{ratePlot(points)}, Tables: []lab.Table{rateTable(points)}, Checks: rateChecks(points),
		Notes: []string{origin, "Tested words are not among the inserted ones. All keys are deleted that can be; those that cannot are still answered with yes, and are not among the tested words."},
	}, nil
}

// exactRate is the mean of (X/m)^k over the number X of cells that kn hits set.
// Eq. (2) takes the power of the mean fill instead, which is smaller; the
// difference, which the paper's reference [3] is about, shows in small filters.
func exactRate(cells, k, n int) (rate float64) {
	m := float64(cells)
	set := make([]float64, cells+1) // probability that so many cells are set
	set[0] = 1
	for range k * n {
		for x := cells; x >= 0; x-- {
			set[x] *= float64(x) / m
			if x > 0 {
				set[x] += set[x-1] * (m - float64(x-1)) / m
			}
		}
	}
	for x, p := range set {
		rate += p * math.Pow(float64(x)/m, float64(k))
	}
	return rate
}

// measureRates asks both filters about absent keys.
func measureRates(s deletable.Shape, members, absent []filter.Key) (out rates, err error) {
	f, err := filled(s, members)
	if err != nil {
		return out, err
	}
	plain, err := bloom.Build(bloom.Shape{Bits: s.Bits, Hashes: s.Hashes})
	if err != nil {
		return out, err
	}
	if _, _, err := plain.AddBatch(members); err != nil {
		return out, err
	}
	out.standard = lab.YesShare(plain, absent)
	out.before = lab.YesShare(f, absent)
	deleteAll(f, members)
	out.after = lab.YesShare(f, absent)
	return out, nil
}

func ratePlot(points []ratePoint) lab.Plot {
	p := lab.Plot{
		Name: "rate", Title: "False positives of 240 bits, before and after removing",
		X: lab.Axis{Label: "keys n"}, Y: lab.Axis{Label: "false positives", Percent: true},
		Notes: []string{"Lines are Eq. (2) and the formula of the standard filter. There is none for the rate after removing."},
	}
	before, after := lab.Series{Name: "before removing", Style: lab.Dots, Color: 2}, lab.Series{Name: "after removing", Style: lab.LinePoints, Color: 3}
	standard := lab.Series{Name: "standard", Style: lab.Dots, Color: 1}
	eq2, classic := lab.Series{Name: "Eq. (2)", Color: 2}, lab.Series{Name: "standard, formula", Color: 1}
	for _, pt := range points {
		x := float64(pt.n)
		before.Points = append(before.Points, pt.before.At(x))
		after.Points = append(after.Points, pt.after.At(x))
		standard.Points = append(standard.Points, pt.standard.At(x))
		eq2.Points = append(eq2.Points, lab.Point{X: x, Y: pt.eq2})
		classic.Points = append(classic.Points, lab.Point{X: x, Y: pt.classic})
	}
	p.Series = []lab.Series{eq2, before, classic, standard, after}
	return p
}

func rateTable(points []ratePoint) lab.Table {
	t := lab.Table{
		Name: "rates", Title: "Rates of false positives",
		Columns: []string{"n", "standard, formula", "exact", "standard", "Eq. (2)", "exact", "before", "after", "before to standard", "after to standard"},
	}
	for _, p := range points {
		t.Add(p.n, p.classic, p.exactStandard, p.standard, p.eq2, p.exact, p.before, p.after, p.before.Mean/p.standard.Mean, p.after.Mean/p.standard.Mean)
	}
	return t
}

// rateChecks looks at all points for the claims and at n = 22, the paper's example,
// for the formulas.
func rateChecks(points []ratePoint) []lab.Check {
	increase, improved, limit := true, true, 0
	for _, p := range points {
		increase = increase && p.before.Mean > p.standard.Mean-lab.Spread(p.before, p.standard)
		better := p.after.Mean < p.standard.Mean
		improved = improved && better
		if better {
			limit = p.n
		}
	}
	at := points[max(0, slices.IndexFunc(points, func(p ratePoint) bool { return p.n == 22 }))]
	return []lab.Check{
		lab.Predicted(fmt.Sprintf("rate before removing, n = %d", at.n), "mean of (set cells/m')^k", at.exact, at.before),
		lab.Predicted(fmt.Sprintf("rate of the standard filter, n = %d", at.n), "mean of (set bits/m)^k", at.exactStandard, at.standard),
		lab.Show(fmt.Sprintf("Eq. (2), n = %d", at.n), fmt.Sprintf("%s; the mean that it approximates is %s", lab.Digits(at.eq2, 4), lab.Digits(at.exact, 4))),
		lab.Holds("before removing", "an affordable increase over the standard filter (Sec. IV)",
			fmt.Sprintf("%.2f times the standard filter's rate at n = %d", at.before.Mean/at.standard.Mean, at.n), increase && at.before.Mean < 2*at.standard.Mean,
			"nowhere below the standard filter, and at n = 22 less than twice its rate; the paper does not say what can be afforded"),
		lab.Holds("after removing", "a potential improvement (Sec. IV)",
			fmt.Sprintf("%.2f times the standard filter's rate at n = %d; below it up to n = %d", at.after.Mean/at.standard.Mean, at.n, limit), at.after.Mean < at.standard.Mean,
			"below the standard filter at n = 22"),
		lab.Show("after removing, at all n", fmt.Sprintf("below the standard filter everywhere: %t", improved)),
	}
}
