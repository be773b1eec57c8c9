package sum

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var params = lab.Experiment{
	ID:       "sum/params",
	Paper:    "[Sum]",
	Title:    "Sizing: m, k and P",
	Question: "Does a filter that is sized by the formulas for m and k have the rate P of the third one, and is that k the best?",
	Says: "Implementation: P is 0.001 if nobody asks for another, m = -n ln(P) / (ln 2)², k = (m/n) ln 2, " +
		"and in turn P = (1 - [1 - 1/m]^(kn))^k, \"guaranteeing a probability P of a false positive\".",
	Quick: lab.Params{
		lab.Int("keys", 1_000), lab.Floats("rates", 0.1, 0.01, 0.001), lab.Float("bits per key", 10),
		lab.Int("most hashes", 14), lab.Int("trials", 200), lab.Int("queries", 5_000),
	},
	Full: lab.Params{
		lab.Int("keys", 10_000), lab.Floats("rates", 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001), lab.Float("bits per key", 10),
		lab.Int("most hashes", 14), lab.Int("trials", 1_000), lab.Int("queries", 100_000),
	},
	Run: runParams,
}

// runParams sizes filters by the rate, then by the number of hashes.
func runParams(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	result := &lab.Result{Notes: []string{
		"Every trial fills a new filter with random keys and asks it about others. Error bars are two standard errors over the trials.",
	}}
	steps := len(e.Floats("rates")) + e.Int("most hashes")
	if err := askedRates(ctx, e, result, steps); err != nil {
		return nil, err
	}
	if err := hashSweep(ctx, e, result, steps); err != nil {
		return nil, err
	}
	result.Checks = append(result.Checks, defaults())
	result.Tables = append(result.Tables, allCorrect(0.001))
	return result, nil
}

// askedRates sizes filters by m and k and compares the measured rate with P. The
// formula is evaluated with k rounded to a whole number and m rounded up, as every
// program must: that moves P by up to 3 % of itself.
func askedRates(ctx context.Context, e *lab.Env, result *lab.Result, steps int) error {
	n := e.Int("keys")
	table := lab.Table{
		Name: "sizes", Title: fmt.Sprintf("Filters for %d keys", n),
		Columns: []string{"asked P", "m", "k", "bits per key", "P of that m and k", "measured"},
	}
	asked := lab.Series{Name: "asked", Style: lab.Dashed}
	measured := lab.Series{Name: "measured", Style: lab.Dots}
	for i, p := range e.Floats("rates") {
		e.Progress(i, steps)
		shape, err := bloom.Config{Items: uint64(n), FPR: p}.Shape()
		if err != nil {
			return err
		}
		rate, err := measureRate(ctx, e, shape)
		if err != nil {
			return err
		}
		exact := shape.FPR(uint64(n))
		table.Add(p, shape.Bits, shape.Hashes, float64(shape.Bits)/float64(n), exact, rate)
		asked.Points = append(asked.Points, lab.Point{X: p, Y: p})
		measured.Points = append(measured.Points, rate.At(p))
		result.Checks = append(result.Checks,
			lab.Predicted(fmt.Sprintf("rate of a filter sized for %v", p), fmt.Sprintf("P of m = %d, k = %d", shape.Bits, shape.Hashes), exact, rate))
	}
	result.Tables = append(result.Tables, table)
	result.Plots = append(result.Plots, lab.Plot{
		Name: "rate", Title: "The rate that was asked for, and the one that came out",
		X: lab.Axis{Label: "asked P", Log: true, Percent: true}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
		Series: []lab.Series{asked, measured},
	})
	return nil
}

// hashSweep leaves m alone and varies k around its optimum.
func hashSweep(ctx context.Context, e *lab.Env, result *lab.Result, steps int) error {
	n, most := e.Int("keys"), e.Int("most hashes")
	m := math.Ceil(e.Float("bits per key") * float64(n))
	formula := lab.Series{Name: "formula for P", Style: lab.Line, Color: 1}
	measured := lab.Series{Name: "measured", Style: lab.Dots, Color: 2}
	rates := make([]lab.Estimate, most)
	for i := range rates {
		e.Progress(steps-most+i, steps)
		k := float64(i + 1)
		var err error
		if rates[i], err = measureRate(ctx, e, bloom.Shape{Bits: uint64(m), Hashes: i + 1}); err != nil {
			return err
		}
		formula.Points = append(formula.Points, lab.Point{X: k, Y: theory.BloomFPR(m, k, float64(n))})
		measured.Points = append(measured.Points, rates[i].At(k))
	}
	result.Plots = append(result.Plots, lab.Plot{
		Name: "hashes", Title: fmt.Sprintf("The rate over the number of hashes, %v bits per key", e.Float("bits per key")),
		X: lab.Axis{Label: "hashes k"}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
		Series: []lab.Series{formula, measured},
	})
	result.Checks = append(result.Checks, bestHashes(theory.BloomHashes(m, float64(n)), rates))
	return nil
}

// bestHashes checks that no number of hashes is better than the formula's; rates
// begin with that of one hash. The optimum is flat, so its neighbours may come out
// lower by chance.
func bestHashes(optimum float64, rates []lab.Estimate) lab.Check {
	lowest := slices.MinFunc(rates, func(a, b lab.Estimate) int { return cmp.Compare(a.Mean, b.Mean) })
	// The formula speaks of real numbers: either neighbour may be meant.
	below := rates[min(max(int(optimum), 1), len(rates))-1]
	above := rates[min(int(optimum)+1, len(rates))-1]
	chosen := min(below.Mean, above.Mean)
	spread := max(lab.Spread(below, lowest), lab.Spread(above, lowest))
	return lab.Holds("number of hashes with the lowest rate", fmt.Sprintf("k = (m/n) ln 2 = %.2f", optimum),
		fmt.Sprintf("lowest rate %s at k = %d", lowest, slices.Index(rates, lowest)+1), chosen-lowest.Mean <= spread,
		fmt.Sprintf("the rate at k = %d or %d is the lowest, or above it by less than %d standard errors of the difference", int(optimum), int(optimum)+1, lab.Sigmas))
}

// measureRate returns the share of absent keys that a full filter says yes to,
// over independently filled ones.
func measureRate(ctx context.Context, e *lab.Env, shape bloom.Shape) (lab.Estimate, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	rates, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (float64, error) {
		f, err := bloom.Build(shape)
		if err != nil {
			return 0, err
		}
		for range n {
			if _, err := f.Add(filter.Key(r.Uint64())); err != nil {
				return 0, err
			}
		}
		yes := 0
		for range queries {
			if f.MayContain(filter.Key(r.Uint64())) {
				yes++
			}
		}
		return float64(yes) / float64(queries), nil
	})
	return lab.Mean(rates), err
}

// defaults checks that a filter made without a rate is that of P = 0.001.
func defaults() lab.Check {
	const n = 1000
	got, err := bloom.Config{Items: n}.Shape()
	m := math.Ceil(theory.BloomBits(n, 0.001))
	k := math.Round(theory.BloomHashes(m, n))
	return lab.Holds("the default, for 1,000 keys", fmt.Sprintf("P = 0.001 if m is not given (Implementation): m = %.0f, k = %.0f", m, k), fmt.Sprintf("m = %d, k = %d", got.Bits, got.Hashes),
		err == nil && float64(got.Bits) == m && float64(got.Hashes) == k, "equal to the formulas, m rounded up and k to the nearest")
}

// allCorrect is about the challenge, whose test cases are judged by all answers: the
// probability that so many queries of absent keys have no false positive.
func allCorrect(p float64) lab.Table {
	t := lab.Table{
		Name: "correct", Title: fmt.Sprintf("Runs without a single false positive, (1 - P)^q, P = %v", p), Columns: []string{"absent keys asked about, q", "probability"},
		Notes: []string{"The text says that small test cases are mostly all correct, large ones rarely, and that results differ from run to run, as seeds are random."},
	}
	for _, q := range []float64{10, 100, 1_000, 10_000, 100_000} {
		t.Add(q, math.Exp(q*math.Log1p(-p)))
	}
	return t
}
