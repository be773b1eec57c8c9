package ebf21

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var expansions = lab.Experiment{
	ID:       "ebf21/expansions",
	Title:    "Table 1 and Fig. 8a: what an expansion does to the rate and to slow memory",
	Question: "When does a filter with the paper's default parameters expand, do the false positives decrease by it, and how much slow memory does it take?",
	Says: "Table 1: 5 hashes, buckets of 8, 2^15 bits, bucket tree with 3 branches, Distinct Stream, threshold 0.2. Abstract: \"Importantly, when EBF expands, the false " +
		"positives decrease.\" Sec. 3.2.4: it expands when the set-bit rate is above Ω, that is the rate above Δ = Ω^k. Sec. 5.4, CAIDA trace, 2^12 bits at first, a CBF of 2^22 counters: \"EBF uses less memory " +
		"mostly, but CBF make a better use of memory when its size is nearly the maximum size\". The width of a counter is not said.",
	Params: lab.Params{lab.Int("initial size, log2", 9).Full(12), lab.Int("expansions", 10), lab.Int("trials", 20), lab.Int("queries", 40_000).Full(1_000_000)},
	Run:    runExpansions,
	Plots: []lab.View{
		{
			Name: "rates", Title: "The rate at every expansion", X: "expansions", Y: rateAxis,
			Curves: []lab.Curve{{Measured: "before", Formula: "Δ = Ω^k"}, {Measured: "just after, nothing moved"}, {Measured: "all moved", Formula: "twice the bits"}},
		},
		{
			Name: "memory", Title: "Slow memory at the end of each stage", X: "expansions", Y: lab.Axis{Label: "KiB", Log: true},
			Curves: []lab.Curve{{Measured: "all slots"}, {Formula: "CBF, 16 bits", Style: lab.Dashed}, {Formula: "CBF, 4 bits", Style: lab.Dashed}},
		},
	},
	Claims: []lab.Claim{
		{Name: "expansions that lower the rate", Printed: "when EBF expands, the false positives decrease", Where: "Abstract", Of: lab.Of("all moved"), Is: lab.Below(lab.Of("before"))},
		{Name: "keys at an expansion", Printed: "-(m/k) ln(1 - Ω)", Where: "Sec. 3.2.4 and 4.1", Of: lab.Of("keys"), Is: lab.Matches(lab.Of("-(m/k) ln(1 - Ω)"))},
		{Name: "rate before an expansion", Printed: "Δ = Ω^k", Where: "Sec. 3.2.4", Of: lab.Of("before"), Is: lab.Matches(lab.Of("Δ = Ω^k"))},
		{Name: "rate after an expansion", Printed: "(1 - (1 - Ω)^(1/2))^k: the same keys in twice the bits", Where: "Sec. 4.1", Of: lab.Of("all moved"), Is: lab.Matches(lab.Of("twice the bits"))},
		{Name: "the lazy update answers at once", Printed: "the query can be performed right away: at the rate of before", Where: "Sec. 3.3.1", Of: lab.Of("just after, nothing moved"), Is: lab.In(lab.Span{Dim: "expansions", From: 5}, lab.Matches(lab.Of("before")))},
		{Name: "EBF takes less slow memory than CBF", Printed: "EBF uses less memory mostly", Where: "Sec. 5.4", Of: lab.Of("all slots"), Is: lab.MostlyBelow(lab.Of("CBF, 16 bits"))},
		{Name: "CBF takes less at its maximum", Printed: "CBF make a better use of memory when its size is nearly the maximum size", Where: "Sec. 5.4", Of: lab.Of("all slots", "expansions", 10), Is: lab.Above(lab.Of("CBF, 16 bits"))},
		{Kind: lab.Own, Name: "with counters of 4 bits the CBF takes less, mostly", Printed: "the width that [dlCBF06] and filter/counting have", Of: lab.Of("CBF, 4 bits"), Is: lab.MostlyBelow(lab.Of("all slots"))},
	},
}

func runExpansions(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	size, last, queries := e.Int("initial size, log2"), e.Int("expansions"), e.Int("queries")
	rate := func(name string) lab.Metric {
		return lab.Metric{Name: name, Unit: lab.InPercent, Asked: lab.Each(queries)}
	}
	counters := func(bits float64) lab.Formula {
		return lab.Fixed(fmt.Sprintf("CBF, %v bits", bits), "KiB", math.Ldexp(bits, size+last-13))
	}
	return lab.Find(ctx, e, lab.Sweep{
		Name: "stages", Title: "Expansions", Trace: lab.Count("expansions", 0, last), Trials: e.Int("trials"),
		Follow: func(_ lab.At, r *rand.Rand) ([]lab.Figures, error) {
			return watchExpansions(ctx, r, size, last+1, queries)
		},
		Metrics: []lab.Metric{{Name: "keys"}, rate("before"), rate("just after, nothing moved"), rate("all moved"), {Name: "all slots", Unit: "KiB"}},
		Formulas: []lab.Formula{
			{Name: "-(m/k) ln(1 - Ω)", Of: func(at lab.At) float64 { return fullKeys(float64(size) + at.Float("expansions")) }},
			lab.Fixed("Δ = Ω^k", lab.InPercent, tableRate), lab.Fixed("twice the bits", lab.InPercent, math.Pow(1-math.Sqrt(1-tableThreshold), tableHashes)),
			counters(16), counters(4),
		},
	}, lab.Notes{
		"Random keys, since repeated packets change nothing. Rates are measured just before an expansion, just after it, and when all trees are split; slow memory just before it. The insertion that expands splits the trees of its key, a good part of all in the first stages. " +
			"A slot keeps the fingerprint of the initial size, since compression needs it whole again. The CBF is judged with the counters of the authors' program, which have 16 bits; 4 bits are drawn beside.",
	})
}

// watchExpansions fills a filter and looks at it around every expansion: rates, and slow
// memory before it, in KiB.
func watchExpansions(ctx context.Context, r *rand.Rand, size, expansions, queries int) (seen []lab.Figures, err error) {
	f, err := elastic.Build(tableShape(size, r.Uint64()))
	if err != nil {
		return nil, err
	}
	var now lab.Figures
	for n := 1; len(seen) < expansions; n++ {
		bits := f.Bits()
		if f.Unsplit() == 0 && f.Info().Fill > tableThreshold-float64(tableHashes)/float64(bits) { // the next key may be the one
			now = lab.Figures{"before": lab.YesShare(f, lab.RandomKeys(r, queries)), "all slots": float64(f.Info().SlowBits) / 8 / 1024}
		}
		if _, err := f.Add(filter.Key(r.Uint64())); err != nil {
			return nil, err
		}
		if f.Bits() == bits {
			continue
		}
		now["keys"], now["just after, nothing moved"] = float64(n), lab.YesShare(f, lab.RandomKeys(r, queries))
		f.FinishResize()
		now["all moved"] = lab.YesShare(f, lab.RandomKeys(r, queries))
		seen = append(seen, now)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

var fig8b = lab.Experiment{
	ID:       "ebf21/fig8b",
	Title:    "Fig. 8b: the time of an expansion",
	Question: "How long does an expansion take: with the lazy update, with all fingerprints moved at once, and if a new filter is built instead?",
	Says: "Sec. 5.4: with the load rate \"the time cost of these operations increases slightly. However, the time cost of lazy update keeps the lowest and that of " +
		"rebuilding EBF keeps the highest\".",
	Params: lab.Params{lab.Ints("sizes, log2", 13, 15).Full(15, 18, 20), lab.Floats("loads", 0.25, 1).Full(0.125, 0.25, 0.5, 0.75, 1), lab.Int("rounds", 7).Full(9)},
	Run:    runFig8b,
	Plots: []lab.View{{
		Name: "time", Title: "Time of an expansion from 2^15 bits", X: "load", By: lab.Contenders, At: []any{"log2 size", tableSize},
		XAxis: lab.Axis{Label: "keys, as a share of those at the threshold", Percent: true}, Y: lab.Axis{Label: "ns per bucket", Log: true}, Curves: []lab.Curve{{Measured: "expansion"}},
	}},
	Claims: []lab.Claim{
		{Name: "lazy update to normal expansion", Printed: "the time cost of lazy update keeps the lowest", Where: "Sec. 5.4", Of: to("expansion", lazy, normal), Is: lab.Below(lab.Number(1))},
		{Name: "lazy update to building anew", Printed: "the time cost of lazy update keeps the lowest", Where: "Sec. 5.4", Of: to("expansion", lazy, anew), Is: lab.Below(lab.Number(1))},
		{Name: "building anew to normal expansion", Printed: "that of rebuilding EBF keeps the highest", Where: "Sec. 5.4", Of: to("expansion", anew, normal), Is: lab.Above(lab.Number(1)), FullOnly: true},
		{Kind: lab.Question, Name: "load 1 to a quarter of it", Printed: "increases slightly", Where: "Sec. 5.4", Of: lab.Of("expansion", "load", 1.0).Over(lab.Of("expansion", "load", 0.25)), Is: lab.Shows()},
	},
}

// The ways to a larger filter.
const (
	lazy   = "lazy update"
	normal = "normal expansion"
	anew   = "building anew"
)

func runFig8b(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	return lab.Find(ctx, e, lab.Race{
		Name: "times", Title: "Time of an expansion, by buckets before it", Dims: []lab.Dim{lab.Along("log2 size", e.Ints("sizes, log2")...), lab.Along("load", e.Floats("loads")...)},
		Contenders: []string{lazy, normal, anew}, Rounds: e.Int("rounds"), Wall: true,
		Start: func(at lab.At, way string, r *rand.Rand) ([]lab.Lap, error) {
			size := at.Int("log2 size")
			run, err := expansion(way, tableShape(size, r.Uint64()), lab.RandomKeys(r, int(at.Float("load")*fullKeys(float64(size)))))
			return []lab.Lap{{Name: "expansion", Ops: 1 << size, Run: run}}, err
		},
	}, lab.Notes{
		"Distinct Stream, k = 5, D = 8, b = 3. Load 1 is as many keys as the threshold Ω = 0.2 allows. Building anew adds all keys to a filter that has the doubled size from the start; it needs the keys, which the other ways do not. Times are by the clock: a normal expansion may use several goroutines. " +
			"The authors' program times its normal expansion 20 times on one array, which is expanded after the first pass, so that its bar is 2.2 to 2.6 times too low.",
	})
}

// expansion returns one way to a filter of twice the size, which does not expand by itself.
func expansion(way string, s elastic.Shape, keys []filter.Key) (func() error, error) {
	s.Threshold = 1
	if way == anew {
		s.Bits, s.Growth = 2*s.Bits, s.Growth-1
		return func() error { _, err := filled(s, keys); return err }, nil
	}
	f, err := filled(s, keys)
	return func() error {
		err := f.Grow()
		if way == normal {
			f.FinishResize()
		}
		return err
	}, err
}
