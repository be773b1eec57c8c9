package ebf21

import (
	"context"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/internal/lab"
)

var fig4 = lab.Experiment{
	ID:       "ebf21/fig4",
	Paper:    "[EBF21]",
	Title:    "Fig. 4: the rate by the initial size",
	Question: "Which of the filters that grow has the lowest rate in the end, if all begin with the same memory and get the same keys?",
	Says:     "Sec. 5.2: \"EBF is the best for all initial memory sizes.\"",
	Quick: lab.Params{
		lab.Ints("initial sizes, log2", 10, 12, 14, 16, 18, 20), lab.Int("keys", 1<<14), lab.Int("trials", 12), lab.Int("queries", 40_000),
	},
	Full: lab.Params{
		lab.Ints("initial sizes, log2", 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23), lab.Int("keys", 1<<17), lab.Int("trials", 10), lab.Int("queries", 1_000_000),
	},
	Run: runFig4,
}

var inFig4 = []contender{plainDynamic, doublingOne, tighteningOne, elasticOne}

func runFig4(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	sizes, n := e.Ints("initial sizes, log2"), e.Int("keys")
	rates := make(map[string][]sampled)
	var xs []float64
	for i, size := range sizes {
		xs = append(xs, float64(size))
		for j, c := range inFig4 {
			e.Progress(i*len(inFig4)+j, len(sizes)*len(inFig4))
			found, err := sampleRates(ctx, e, c, size, []int{n})
			if err != nil {
				return nil, err
			}
			rates[c.name] = append(rates[c.name], found...)
		}
	}
	plot := ratePlot("rate", fmt.Sprintf("False positives after %d keys", n), lab.Axis{Label: "log2 of the initial size in bits"}, xs, rates, inFig4)
	return &lab.Result{
		Plots:  []lab.Plot{plot},
		Tables: []lab.Table{rateTable("rates", fmt.Sprintf("Measured rates after %d keys", n), "log2 size", xs, rates, inFig4)},
		Checks: fig4Checks(xs, rates, n),
		Notes: []string{
			"Distinct Stream, k = 5, Ω = 0.2. The paper does not say how many keys there were. SBF and scalable as in fig3.",
			"An EBF ends with the size that the keys need, whatever it began with; beyond that size nothing grows, and all are equal but for filter/scalable, which has the best number of hashes instead of 5.",
		},
	}, nil
}

// fig4Checks compares EBF at every size. Where nothing has to grow all are equal,
// where something has, it must be lower.
func fig4Checks(xs []float64, rates map[string][]sampled, n int) []lab.Check {
	var checks []lab.Check
	for _, c := range []contender{plainDynamic, doublingOne} {
		better := func(i int) bool {
			grows := fullKeys(int(xs[i])) < float64(n)
			ebf, other := rates["EBF"][i], rates[c.name][i]
			return grows && ebf.below(other) || !grows && ebf.atMost(other)
		}
		all := true
		for i := range xs {
			all = all && better(i)
		}
		checks = append(checks, lab.Holds("EBF against "+c.name, "\"EBF is the best for all initial memory sizes\"", where(xs, better), all,
			"lower at every size that has to grow beyond, and not higher at the others, "+howCompared))
	}
	flat := true
	for i := range xs {
		if fullKeys(int(xs[i])) < float64(n)/2 {
			flat = flat && rates["EBF"][i].atMost(rates["EBF"][0]) && rates["EBF"][0].atMost(rates["EBF"][i])
		}
	}
	return append(checks,
		lab.Holds("EBF's rate does not depend on the initial size", "Sec. 3.2.4: expansion doubles until the threshold is kept",
			fmt.Sprintf("%s from 2^%v bits", lab.Digits(rates["EBF"][0].rate.Mean, 3), xs[0]), flat, "equal for all sizes below what the keys need, "+howCompared),
		lab.Show("DBF over EBF at the smallest size", lab.Digits(rates["DBF"][0].rate.Mean/math.Max(rates["EBF"][0].rate.Mean, 1e-9), 3)+" times the rate"),
		lab.Show("EBF has a lower rate than filter/scalable, which is not in the paper", where(xs, func(i int) bool { return rates["EBF"][i].atMost(rates["scalable"][i]) })),
	)
}
