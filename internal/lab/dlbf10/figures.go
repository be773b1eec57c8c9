package dlbf10

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var fig2 = lab.Experiment{
	ID:       "dlbf10/fig2",
	Paper:    paper,
	Title:    "Deletability by the formula, over the filter's density",
	Question: "Which share of the keys can be deleted, by Eq. (1) and in truth, for each density m/n and bitmap size m/r?",
	Says: "Fig. 2 plots p_d of Eq. (1) over m/n for different m/r, k not stated: it rises with r and falls as keys are added. " +
		"Sec. III-A: with m/r = 20 around 90 % of the elements can be removed when m/n is around 16.",
	Quick: fig2Params(60),
	Full:  fig2Params(paperTrials),
	Run:   runFig2,
	Plots: []lab.View{
		{
			Name: "eq1", Title: "Eq. (1), corrected, k = 5", X: "m/n", By: "m/r", XAxis: lab.Axis{Label: "bits per key, m/n"}, Y: deletableAxis,
			Curves: []lab.Curve{{Formula: "Eq. (1)"}}, Marks: []lab.Mark{{X: 16, Y: 0.9, Text: "around 90 %, m/r = 20"}},
		},
		{
			Name: "truth", Title: "What can be deleted, k = 5; lines: the formula with the missing condition", X: "m/n", By: "m/r", XAxis: lab.Axis{Label: "bits per key, m/n"}, Y: deletableAxis,
			Curves: []lab.Curve{{Measured: "deletable", Formula: "conditioned"}}, Marks: []lab.Mark{{X: 16, Y: 0.9, Text: "around 90 %, m/r = 20"}},
		},
	},
	Claims: []lab.Claim{
		{Name: "more regions, by Eq. (1)", Printed: "increasing r results in a larger portion of deletable elements", Where: "Sec. III-A", Of: lab.Of("Eq. (1)"), Is: lab.Falls("m/r")},
		{
			Name: "more regions, measured", Printed: "increasing r results in a larger portion of deletable elements", Where: "Sec. III-A", Of: lab.Of("deletable"), Is: lab.Falls("m/r"),
			Why: "true down to m/r = 5; a bitmap of half the bits, m/r = 2, leaves so few cells that more keys collide than smaller regions save, from 12 bits per key on",
		},
		{Name: "more keys, by Eq. (1)", Printed: "as more elements are inserted the deletion capabilities are reduced", Where: "Sec. III-A", Of: lab.Of("Eq. (1)"), Is: lab.Rises("m/n")},
		{Name: "more keys, measured", Printed: "as more elements are inserted the deletion capabilities are reduced", Where: "Sec. III-A", Of: lab.Of("deletable"), Is: lab.Rises("m/n")},
		{
			Kind: lab.Erratum, Name: "Eq. (1) as printed", Printed: "p_d = (1 - (1 - p_c)^(m'/r))^k is the probability of being deletable", Where: "Eq. (1)",
			Of: lab.Of("Eq. (1) as printed", "m/r", 2, "m/n", 32), Is: lab.AtLeast(lab.Number(0.5)),
			Why: "nearly all elements can be deleted there; the printed form is the probability that none of the k regions is clean, and 1 minus it is meant, and plotted in Fig. 2",
		},
		{Name: "Eq. (1) for the example, k = 5", Printed: "90 %: \"around\" at m/r = 20 and m/n = 16", Where: "Sec. III-A", Of: lab.Of("Eq. (1)", "m/r", 20, "m/n", 16), Is: lab.Around(), Show: []lab.Pick{lab.Of("Sec. III-A", "k", 6)}},
		{Name: "measured for the example, k = 5", Printed: "90 %: \"around\" at m/r = 20 and m/n = 16", Where: "Sec. III-A", Of: lab.Of("deletable", "m/r", 20, "m/n", 16), Is: lab.Around()},
		{Kind: lab.Own, Name: "the formula with the missing condition", Printed: "1 - (1 - p)^k with p = (1 - 1/m')^(kn-1) (1 - p_c)^(m'/r-1) is what is measured", Of: lab.Of("deletable"), Is: lab.Matches(lab.Of("conditioned"))},
	},
}

func fig2Params(trials int) lab.Params {
	return lab.Params{
		lab.Int("keys", 1_000), lab.Int("hashes", 5), lab.Ints("bits per region, m/r", 2, 5, 10, 20, 40),
		lab.Ints("densities, m/n", 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32), lab.Int("trials", trials),
	}
}

func runFig2(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n := e.Int("keys")
	of := func(at lab.At) (deletable.Shape, float64) {
		ratio := at.Int("m/r")
		regions := uint64(float64(n)*at.Float("m/n")/float64(ratio) + 0.5) // whole ones in smooth curves, too
		return deletable.Shape{Bits: regions * uint64(ratio), Hashes: e.Int("hashes"), Regions: regions}, float64(n)
	}
	formulas := shareFormulas(of)
	printed := lab.Formula{Name: "Eq. (1) as printed", Unit: lab.InPercent, Of: func(at lab.At) float64 { return 1 - formulas[0].Of(at) }}
	// The keys of one region can be deleted, or not, together.
	regions := func(at lab.At) int { return min(n, n*at.Int("m/n")/at.Int("m/r")) }
	g, err := lab.Sweep(ctx, e, lab.Spec[outcome]{
		Name: "deletability", Title: "Share of the keys that can be deleted",
		Dims:   []lab.Dim{lab.Along("m/r", e.Ints("bits per region, m/r")...), lab.Along("m/n", e.Ints("densities, m/n")...)},
		Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (outcome, error) {
			s, _ := of(at)
			return try(s, lab.RandomKeys(r, n), nil)
		},
		Metrics:  []lab.Metric[outcome]{{Name: "deletable", Unit: lab.InPercent, Of: deletableShare, Asked: regions}},
		Formulas: append(formulas, printed),
	})
	return &lab.Result{Grids: []*lab.Grid{g, readings90()}, Notes: []string{"Eq. (1) is printed without the leading 1 -; what is plotted can only be the complement, which this takes."}}, err
}

// readings90 computes the two places that say 90 % with what the paper leaves open: k in
// Sec. III-A, and whether a region has m/r or m'/r cells.
func readings90() *lab.Grid {
	eq1 := func(name string, cells, n, s float64) lab.Formula {
		return lab.Formula{Name: name, Unit: lab.InPercent, Of: func(at lab.At) float64 { return theory.DeletableEq1(cells, at.Float("k"), n, s) }}
	}
	return lab.Computed("readings", "Which reading of Eq. (1) gives 90 %?", []lab.Dim{lab.Along("k", 5, 6)},
		eq1("Sec. III-A", 15_200, 1_000, 19), eq1("Sec. III-A, m/r cells", 15_200, 1_000, 20), eq1("Sec. IV", 216, 22, 9), eq1("Sec. IV, m/r cells", 216, 22, 10))
}

var fig3 = lab.Experiment{
	ID:       "dlbf10/fig3",
	Paper:    paper,
	Title:    "Figs. 3 and 4: a 240-bit filter, simulated",
	Question: "Which share of n words can be deleted from m = 240 bits with k = 5, what does the bitmap cost in false positives, and what does deleting gain?",
	Says: "Fig. 3: mean deletability over n for different r, 2,000 trials each. Sec. IV: as predicted, but lower, \"noteworthy as r tends to m/2 and for high m/n ratios\"; 80 % with r = 24 and n = 22; " +
		"from r = 60 to 120 only the number of deleted bits improves. Fig. 4: rate with r = 24 before and after removing, 500 words tested: \"an affordable increase before elements are removed, and a potential improvement\" after.",
	Quick: fig3Params(500, 10, 14, 22, 28, 36),
	Full:  fig3Params(paperTrials, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40),
	Data:  []string{wordFile},
	Run:   runFig3,
	Plots: []lab.View{
		{
			Name: "eq1", Title: "Measured (points) and Eq. (1) (lines)", X: "n", By: "r", XAxis: lab.Axis{Label: "keys n"}, Y: deletableAxis,
			Curves: []lab.Curve{{Measured: "deletable", Formula: "Eq. (1)"}}, Marks: []lab.Mark{{X: 22, Y: 0.8, Text: "80 %, r = 24"}},
		},
		{
			Name: "conditioned", Title: "Measured (points) and the formula with the missing condition (lines)", X: "n", By: "r", XAxis: lab.Axis{Label: "keys n"}, Y: deletableAxis,
			Curves: []lab.Curve{{Measured: "deletable", Formula: "conditioned"}}, Marks: []lab.Mark{{X: 22, Y: 0.8, Text: "80 %, r = 24"}},
		},
		{
			Name: "rate", Title: "Fig. 4: false positives of 240 bits, before and after removing", X: "n", At: []any{"r", 24}, XAxis: lab.Axis{Label: "keys n"}, Y: lab.Axis{Label: "false positives", Percent: true},
			Curves: []lab.Curve{{Measured: "standard", Formula: "standard, formula"}, {Measured: "before removing", Formula: "Eq. (2)"}, {Measured: "after removing"}},
		},
	},
	Claims: []lab.Claim{
		{Name: "deletable with r = 24, n = 22", Printed: "80 %", Where: "Sec. IV", Of: lab.Of("deletable", "r", 24, "n", 22), Is: lab.Agrees(paperTrials)},
		{Name: "measured against Eq. (1)", Printed: "relatively lower values than predicted by theory", Where: "Sec. IV", Of: lab.Of("deletable"), Is: lab.AtMost(lab.Of("Eq. (1)"))},
		{Name: "measured over n", Printed: "the observed deletability behaves as predicted by theory: it falls with n", Where: "Sec. IV", Of: lab.Of("deletable"), Is: lab.Falls("n")},
		{
			Name: "distance to Eq. (1) with many regions", Printed: "noteworthy as r tends to m/2", Where: "Sec. IV",
			Of: lab.Of("pinned", "r", 120, "n", 22).Over(lab.Of("pinned by Eq. (1)")), Is: lab.Above(lab.Of("pinned", "r", 24).Over(lab.Of("pinned by Eq. (1)"))),
		},
		{
			Name: "distance to Eq. (1) with few keys", Printed: "noteworthy for high m/n ratios", Where: "Sec. IV",
			Of: lab.Of("pinned", "r", 120, "n", 22).Over(lab.Of("pinned by Eq. (1)")), Is: lab.Above(lab.Of("pinned", "n", 36).Over(lab.Of("pinned by Eq. (1)"))),
		},
		{
			Kind: lab.Erratum, Name: "deletable keys from r = 60 to 120", Printed: "doubling r from 60 to 120 does not improve the actual element deletability", Where: "Sec. IV",
			Of: lab.Of("deletable", "r", 120), Is: lab.AtMost(lab.Of("deletable", "r", 60)),
			Why:  "it holds for up to about 26 keys, the 22 of the example among them; with more keys regions of one cell outweigh the cells that their marks take, and the formula says so, too",
			Show: []lab.Pick{lab.Of("deletable", "r", 60, "n", 22), lab.Of("deletable", "r", 120, "n", 22)},
		},
		{Name: "deleted bits from r = 60 to 120, as a share of the set bits", Printed: "doubling r from 60 to 120 improves the number of deleted bits", Where: "Sec. IV", Of: lab.Of("reset bits of the set", "r", 120, "n", 22), Is: lab.Above(lab.Of("reset bits of the set", "r", 60))},
		{
			Name: "deleted bits from r = 60 to 120, counted", Printed: "doubling r from 60 to 120 improves the number of deleted bits", Where: "Sec. IV", Of: lab.Of("reset bits", "r", 120, "n", 22), Is: lab.Above(lab.Of("reset bits", "r", 60)),
			Why: "60 cells fewer are left for the keys, so that fewer bits are set in the first place; the count is larger with r = 120 from about 30 keys on",
		},
		noneLost,
		{Kind: lab.Own, Name: "rate before removing", Printed: "the mean of (set cells/m')^k, which Eq. (2) approximates", Of: lab.Of("before removing", "r", 24), Is: lab.Matches(lab.Of("exact mean")), Show: []lab.Pick{lab.Of("Eq. (2)", "n", 22, "r", 24)}},
		{Name: "before removing", Printed: "an increase over the standard filter", Where: "Sec. IV", Of: lab.Of("before removing", "r", 24), Is: lab.AtLeast(lab.Of("standard"))},
		{Name: "the increase at n = 22", Printed: "affordable, taken as less than twice", Where: "Sec. IV", Of: lab.Of("before removing", "r", 24, "n", 22).Over(lab.Of("standard")), Is: lab.Below(lab.Number(2))},
		{Name: "after removing", Printed: "a potential improvement over the standard filter", Where: "Sec. IV", Of: lab.Of("after removing", "r", 24), Is: lab.AtMost(lab.Of("standard"))},
		{Name: "after removing, at n = 22", Printed: "a potential improvement over the standard filter", Where: "Sec. IV", Of: lab.Of("after removing", "r", 24, "n", 22).Over(lab.Of("standard")), Is: lab.Below(lab.Number(1))},
	},
}

func fig3Params(trials int, keys ...int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Ints("regions", 12, 24, 60, 120),
		lab.Ints("keys", keys...), lab.Int("trials", trials), lab.Int("tested words", 500),
	}
}

func runFig3(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	words, origin, err := dictionary(e)
	if err != nil {
		return nil, err
	}
	from, tested := hashed(words, filter.Hash{}), e.Int("tested words")
	formulas := shareFormulas(func(at lab.At) (deletable.Shape, float64) { return shape(e, at.Int("r")), at.Float("n") })
	rate := func(name string, of func(cells, k, n float64) float64, marks bool) lab.Formula {
		return lab.Formula{Name: name, Unit: lab.InPercent, Of: func(at lab.At) float64 {
			return of(float64(e.Int("bits"))-at.Float("r")*lab.OneIf(marks), float64(e.Int("hashes")), at.Float("n"))
		}}
	}
	tests := func(name string, of func(outcome) float64) lab.Metric[outcome] {
		return lab.Metric[outcome]{Name: name, Unit: lab.InPercent, Of: of, Asked: lab.Each(tested)}
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[outcome]{
		Name: "deletability", Title: "Keys that can be deleted, and what that resets",
		Dims:   []lab.Dim{lab.Along("r", e.Ints("regions")...), lab.Along("n", e.Ints("keys")...)},
		Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (outcome, error) {
			keys, among := sample(r, from, at.Int("n"), nil)
			absent, _ := sample(r, from, tested, among)
			return try(shape(e, at.Int("r")), keys, absent)
		},
		Metrics: []lab.Metric[outcome]{
			{Name: "deletable", Unit: lab.InPercent, Of: deletableShare, Asked: func(at lab.At) int { return at.Int("n") }},
			percent("pinned", func(o outcome) float64 { return 1 - o.deletable }),
			percent("reset bits of the set", resetShare),
			{Name: "reset bits", Of: func(o outcome) float64 { return o.reset }},
			{Name: "false negatives", Of: lostKeys},
			tests("standard", func(o outcome) float64 { return o.standard }),
			tests("before removing", func(o outcome) float64 { return o.before }),
			tests("after removing", func(o outcome) float64 { return o.after }),
		},
		Formulas: append(formulas,
			lab.Formula{Name: "pinned by Eq. (1)", Unit: lab.InPercent, Of: func(at lab.At) float64 { return 1 - formulas[0].Of(at) }},
			rate("standard, formula", theory.BloomFPR, false), rate("Eq. (2)", theory.BloomFPR, true), rate("exact mean", exactRate, true)),
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		origin, "Sec. IV blames the hash functions for the distance to Eq. (1); dlbf10/text shows that it is the formula. The distance is judged as the paper speaks of it, by the keys that cannot be deleted; in points it is largest for few regions.",
	}}, err
}

// exactRate is the mean of (X/m)^k over the number X of cells that kn hits set. Eq. (2)
// takes the power of the mean fill instead, which is smaller; the difference, which the
// paper's reference [3] is about, shows in small filters.
func exactRate(cells, k, n float64) (rate float64) {
	set := make([]float64, int(cells)+1) // probability that so many cells are set
	set[0] = 1
	for range int(k * n) {
		for x := range slices.Backward(set) {
			set[x] *= float64(x) / cells
			if x > 0 {
				set[x] += set[x-1] * (cells - float64(x-1)) / cells
			}
		}
	}
	for x, p := range set {
		rate += p * math.Pow(float64(x)/cells, k)
	}
	return rate
}
