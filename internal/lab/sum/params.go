package sum

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var params = lab.Experiment{
	ID:       "sum/params",
	Paper:    paper,
	Title:    "Sizing: m, k and P",
	Question: "Does a filter that is sized by the formulas for m and k have the rate P of the third one, and is that k the best?",
	Says: "Implementation: P is 0.001 if nobody asks for another, m = -n ln(P) / (ln 2)², k = (m/n) ln 2, " +
		"and in turn P = (1 - [1 - 1/m]^(kn))^k, \"guaranteeing a probability P of a false positive\".",
	Quick: lab.Params{
		lab.Int("keys", 1_000), lab.Floats("rates", 0.1, 0.01, 0.001), lab.Int("bits per key", 10),
		lab.Int("most hashes", 14), lab.Int("trials", 200), lab.Int("queries", 5_000),
	},
	Full: lab.Params{
		lab.Int("keys", 10_000), lab.Floats("rates", 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001), lab.Int("bits per key", 10),
		lab.Int("most hashes", 14), lab.Int("trials", 1_000), lab.Int("queries", 100_000),
	},
	Run: runParams,
	Plots: []lab.View{
		{
			Name: "rate", Title: "The rate that was asked for, and the one that came out", X: "asked P", XAxis: lab.Axis{Label: "asked P", Log: true, Percent: true}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
			Curves: []lab.Curve{{Measured: "rate", Formula: "asked"}},
		},
		{
			Name: "best", Title: "The rate over the number of hashes, 10 bits per key", X: "k", XAxis: lab.Axis{Label: "hashes k"}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
			Curves: []lab.Curve{{Measured: "rate by hashes", Formula: "formula for P"}},
		},
	},
	Claims: []lab.Claim{
		{Name: "rate of filters sized by m and k", Printed: "P = (1 - [1 - 1/m]^(kn))^k", Where: "Implementation", Of: lab.Of("rate"), Is: lab.Matches(lab.Of("P of that m and k"))},
		{Name: "rate by the number of hashes", Printed: "P = (1 - [1 - 1/m]^(kn))^k", Where: "Implementation", Of: lab.Of("rate by hashes"), Is: lab.Matches(lab.Of("formula for P"))},
		{Name: "the best number of hashes", Printed: "k = (m/n) ln 2, which is 6.93: no other k is clearly better than 7", Where: "Implementation", Of: lab.Of("rate by hashes"), Is: lab.AtLeast(lab.Of("rate by hashes", "k", 7))},
		{Name: "bits of the default, for 1,000 keys", Printed: "m of P = 0.001 if it is not given", Where: "Implementation", Of: lab.Of("default m"), Is: lab.Matches(lab.Of("m of 0.001"))},
		{Name: "hashes of the default", Printed: "k of P = 0.001 if it is not given", Where: "Implementation", Of: lab.Of("default k"), Is: lab.Matches(lab.Of("k of 0.001"))},
	},
}

func runParams(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	sized := map[float64]bloom.Shape{}
	for _, p := range e.Floats("rates") {
		var err error
		if sized[p], err = (bloom.Config{Items: uint64(n), FPR: p}).Shape(); err != nil {
			return nil, err
		}
	}
	asked := func(of func(s bloom.Shape) float64) func(lab.At) float64 {
		return func(at lab.At) float64 { return of(sized[at.Float("asked P")]) }
	}
	measured := func(name string) []lab.Metric[float64] {
		return []lab.Metric[float64]{{Name: name, Unit: lab.InPercent, Of: func(rate float64) float64 { return rate }, Asked: lab.Each(queries)}}
	}
	e.Part(0, 2)
	rates, err := lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "sizes", Title: "Filters sized by the rate", Dims: []lab.Dim{lab.Along("asked P", e.Floats("rates")...)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (float64, error) {
			return rateOf(sized[at.Float("asked P")], n, queries, r)
		},
		Metrics: measured("rate"),
		Formulas: []lab.Formula{
			{Name: "asked", Unit: lab.InPercent, Of: func(at lab.At) float64 { return at.Float("asked P") }},
			{Name: "P of that m and k", Unit: lab.InPercent, Of: asked(func(s bloom.Shape) float64 { return s.FPR(uint64(n)) })},
			{Name: "m", Of: asked(func(s bloom.Shape) float64 { return float64(s.Bits) })},
			{Name: "hashes", Of: asked(func(s bloom.Shape) float64 { return float64(s.Hashes) })},
		},
		Notes: []string{"k is rounded to a whole number and m up, as every program must: that moves P by up to 3 % of itself."},
	})
	if err != nil {
		return nil, err
	}
	e.Part(1, 2)
	var hashes []int
	for k := 1; k <= e.Int("most hashes"); k++ {
		hashes = append(hashes, k)
	}
	m := uint64(e.Int("bits per key") * n)
	best, err := lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "hashes", Title: "Ten bits per key", Dims: []lab.Dim{lab.Along("k", hashes...)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (float64, error) {
			return rateOf(bloom.Shape{Bits: m, Hashes: at.Int("k")}, n, queries, r)
		},
		Metrics:  measured("rate by hashes"),
		Formulas: []lab.Formula{{Name: "formula for P", Unit: lab.InPercent, Of: func(at lab.At) float64 { return theory.BloomFPR(float64(m), at.Float("k"), float64(n)) }}},
	})
	if err != nil {
		return nil, err
	}
	plain, err := bloom.Config{Items: 1_000}.Shape()
	bits := math.Ceil(theory.BloomBits(1_000, 0.001))
	return &lab.Result{Grids: []*lab.Grid{rates, best, lab.Computed("default", "The default for 1,000 keys", nil,
		lab.Fixed("default m", lab.Plain, float64(plain.Bits)), lab.Fixed("m of 0.001", lab.Plain, bits),
		lab.Fixed("default k", lab.Plain, float64(plain.Hashes)), lab.Fixed("k of 0.001", lab.Plain, math.Round(theory.BloomHashes(bits, 1_000))))}}, err
}

// rateOf fills a new filter and asks it about absent keys.
func rateOf(s bloom.Shape, n, queries int, r *rand.Rand) (float64, error) {
	f, err := bloom.Build(s)
	if err != nil {
		return 0, err
	}
	_, _, err = filter.AddBatch(f, lab.RandomKeys(r, n))
	return lab.YesShare(f, lab.RandomKeys(r, queries)), err
}
