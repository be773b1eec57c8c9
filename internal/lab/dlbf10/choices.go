package dlbf10

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var choices = lab.Experiment{
	ID:       "dlbf10/choices",
	Paper:    "[DlBF10]",
	Title:    "The power of choices",
	Question: "What is gained by building d filters with different hashes and sending the best?",
	Says:     "Sec. V leaves it open: \"creating d DlBF candidates with different sets of hash functions and selecting the best in terms of fpr or guarantees that certain elements are deletable\".",
	Quick:    choiceParams(100, 1, 4, 16, 64),
	Full:     choiceParams(paperTrials, 1, 2, 4, 8, 16, 32, 64, 128, 256),
	Run:      runChoices,
	Plots: []lab.View{
		{
			Name: "rate", Title: "The rate of the candidate with the fewest set bits", X: "d", XAxis: lab.Axis{Label: "candidates d", Log: true}, Y: lab.Axis{Label: "false positives", Percent: true},
			Curves: []lab.Curve{{Measured: "rate"}, {Formula: "standard, m bits", Style: lab.Dashed}},
		},
		{
			Name: "named", Title: "Some candidate lets all named keys be deleted", X: "d", By: "named keys", XAxis: lab.Axis{Label: "candidates d", Log: true}, Y: lab.Axis{Label: "share of trials", Percent: true, Max: 1.02},
			Curves: []lab.Curve{{Measured: "all deletable"}},
		},
	},
	Claims: []lab.Claim{
		interplay("selecting the best in terms of fpr", lab.Of("rate", "d", 64), lab.Below(lab.Of("rate", "d", 1))),
		interplay("candidates that make up for the bitmap", lab.Of("rate").Over(lab.Of("standard, m bits")), lab.Shows()),
		interplay("keys deletable in the filter with the fewest set bits", lab.Of("deletable", "d", 64), lab.Below(lab.Of("deletable", "d", 1))),
		interplay("four named keys, all deletable", lab.Of("all deletable", "named keys", 4), lab.Rises("d")),
	},
}

func interplay(name string, of lab.Pick, is lab.Test) lab.Claim {
	return lab.Claim{Kind: lab.Question, Name: name, Printed: "may introduce another interesting interplay", Where: "Sec. V", Of: of, Is: is}
}

func choiceParams(trials int, candidates ...int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Int("regions", 24), lab.Int("keys", 22),
		lab.Ints("candidates", candidates...), lab.Ints("named keys", 1, 2, 4, 8, 22), lab.Int("trials", trials),
	}
}

func runChoices(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	s, n, named := shape(e, e.Int("regions")), e.Int("keys"), e.Ints("named keys")
	d := lab.Along("d", e.Ints("candidates")...)
	standard := theory.BloomFPR(float64(s.Bits), float64(s.Hashes), float64(n))
	e.Part(0, 2)
	best, err := lab.Sweep(ctx, e, lab.Spec[[2]float64]{
		Name: "choices", Title: "The best of d candidates, by fill", Dims: []lab.Dim{d}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) ([2]float64, error) {
			return bestFill(s, lab.RandomKeys(r, n), at.Int("d"))
		},
		Metrics: []lab.Metric[[2]float64]{
			{Name: "rate", Unit: lab.InPercent, Of: func(v [2]float64) float64 { return v[0] }},
			{Name: "deletable", Unit: lab.InPercent, Of: func(v [2]float64) float64 { return v[1] }},
		},
		Formulas: []lab.Formula{
			{Name: "standard, m bits", Unit: lab.InPercent, Of: func(lab.At) float64 { return standard }},
			{Name: "bits to number them", Of: func(at lab.At) float64 { return math.Ceil(math.Log2(at.Float("d"))) }},
		},
	})
	if err != nil {
		return nil, err
	}
	e.Part(1, 2)
	reached, err := lab.Sweep(ctx, e, lab.Spec[bool]{
		Name: "reached", Title: "Some candidate lets all named keys be deleted", Dims: []lab.Dim{d}, Trace: lab.Along("named keys", named...), Trials: e.Int("trials"),
		Follow: func(at lab.At, r *rand.Rand) ([]bool, error) {
			return allNamed(s, lab.RandomKeys(r, n), named, at.Int("d"))
		},
		Metrics: []lab.Metric[bool]{{Name: "all deletable", Unit: lab.InPercent, Of: oneIf, Asked: func(lab.At) int { return 1 }}},
	})
	return &lab.Result{Grids: []*lab.Grid{best, reached}, Notes: []string{"The rate is fill^k of the chosen filter. Numbering d candidates takes log2 d bits beside the filter. Where bits coincide they collide, so the filter with the fewest set bits lets fewer keys be deleted."}}, err
}

// bestFill returns rate and deletability of the candidate with the fewest set bits.
func bestFill(s deletable.Shape, keys []filter.Key, d int) (v [2]float64, err error) {
	f, _, err := deletable.Choose(s, keys, deletable.BestFill(), d)
	if err != nil {
		return v, err
	}
	v[0] = math.Pow(f.Info().Fill, float64(s.Hashes))
	v[1] = deleteAll(f, keys).deletable
	return v, nil
}

// allNamed tells for each number of named keys whether a candidate lets all be
// deleted.
func allNamed(s deletable.Shape, keys []filter.Key, named []int, d int) (reached []bool, err error) {
	for _, q := range named {
		_, _, err := deletable.Choose(s, keys, deletable.AllDeletable(keys[:q]...), d)
		if err != nil && !errors.Is(err, filter.ErrPinned) {
			return nil, err
		}
		reached = append(reached, err == nil)
	}
	return reached, nil
}
