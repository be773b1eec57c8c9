package evergreen

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var size = lab.Experiment{
	ID:       "evergreen/size",
	Title:    "Rate and memory while the set grows",
	Question: "Does the rate stay at the asked one at every size, and what does that cost in fast and in slow memory?",
	Says: "Package comment: \"keeps the rate it was asked for at every size\", by its own account to within a 128th; at 1 % 10.1 to 13.5 bits per key of fast memory, 12.2 on average over a doubling, " +
		"and 67 to 70 of slow memory, compact with 32 bits 39 to 42; at 0.1 % 15.7 to 21.6, 19.3 on average, and 68 to 72, compact 41 to 45. " +
		"README: about 80 bits per key in all at 1 %, of which queries read 12.",
	Quick: sizeParams(1_000_000, 201, 20_000), Full: sizeParams(50_000_000, 313, 500_000),
	Run: runSize,
	Plots: []lab.View{
		{
			Name: "rate", Title: "The measured rate, as a share of the asked one, whole keys", X: "n", By: "rate asked", At: []any{"width", 56}, XAxis: lab.Axis{Label: "keys", Log: true},
			Y: lab.Axis{Label: "false positives ÷ asked rate"}, Curves: []lab.Curve{{Measured: "rate to asked", Style: lab.Dots}},
		},
		{
			Name: "fast", Title: "Fast memory, which queries read; lines: predicted", X: "n", By: "rate asked", At: []any{"width", 56}, XAxis: lab.Axis{Label: "keys", Log: true},
			// The smallest filter has 16 KiB, whatever the keys.
			Y: lab.Axis{Label: "bits per key", Max: 40}, Curves: []lab.Curve{{Measured: "fast bits per key", Formula: "predicted fast bits"}},
		},
		{
			Name: "all", Title: "All memory, fast and slow, at 1 %", X: "n", By: "width", At: []any{"rate asked", 0.01}, XAxis: lab.Axis{Label: "keys", Log: true},
			Y: lab.Axis{Label: "bits per key", Max: 160}, Curves: []lab.Curve{{Measured: "bits per key", Style: lab.Line}},
		},
	},
	Claims: []lab.Claim{
		{Name: "rate, 1 %", Printed: keeps, Where: comment, Of: lab.Of("rate", "rate asked", 0.01), Is: lab.AtMost(lab.Number(0.01))},
		{Name: "rate, 0.1 %", Printed: keeps, Where: comment, Of: lab.Of("rate", "rate asked", 0.001), Is: lab.AtMost(lab.Number(0.001))},
		{Name: "rate by its own account", Printed: "at most a 128th above the asked rate", Where: comment, Of: lab.Of("Info to asked"), Is: lab.AtMost(lab.Number(1 + 1.0/128))},
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		inside("fast bits per key, 1 %", "fast bits, last doubling", "10.1", "13.5", 0.01, 56),
		inside("fast bits per key, 0.1 %", "fast bits, last doubling", "15.7", "21.6", 0.001, 56),
		inside("slow bits per key, 1 %", "slow bits, last doubling", "67", "70", 0.01, 56),
		inside("slow bits per key, 1 %, compact", "slow bits, last doubling", "39", "42", 0.01, 32),
		inside("slow bits per key, 0.1 %", "slow bits, last doubling", "68", "72", 0.001, 56),
		inside("slow bits per key, 0.1 %, compact", "slow bits, last doubling", "41", "45", 0.001, 32),
		inside("bits per key in all, 1 %", "all bits, last doubling", "78", "84", 0.01, 56),
		inside("bits per key in all, 1 %, compact", "all bits, last doubling", "49", "54", 0.01, 32),
		{
			Name: "fast memory of compact filters", Printed: "1.02 times that with whole keys at most, up to 50 million keys", Where: comment,
			Of: lab.Of("fast bits, last doubling", "width", 32).Over(lab.Of("fast bits, last doubling", "width", 56)), Is: lab.AtMost(lab.Number(1.02)),
		},
		{Name: "fast bits over a doubling, 1 %", Printed: "12.2 on average", Where: comment, Of: lab.Of("fast bits, mean", "rate asked", 0.01, "width", 56), Is: lab.Rounds(), FullOnly: true},
		{Name: "fast bits over a doubling, 0.1 %", Printed: "19.3 on average", Where: comment, Of: lab.Of("fast bits, mean", "rate asked", 0.001, "width", 56), Is: lab.Rounds(), FullOnly: true},
		{Name: "bits per key in all on average, 1 %", Printed: "80 (about)", Where: "README", Of: lab.Of("all bits, mean", "rate asked", 0.01, "width", 56), Is: lab.Around()},
		{Name: "bits per key that queries read, 1 %", Printed: "12", Where: "README", Of: lab.Of("fast bits, mean", "rate asked", 0.01, "width", 56), Is: lab.Rounds()},
	},
}

// inside is a claim on a range of the last doubling: at small sizes pages of 4 KiB
// weigh more.
func inside(name, metric, least, most string, rate float64, width int) lab.Claim {
	return lab.Claim{Name: name, Printed: least + " to " + most, Where: comment, Of: lab.Of(metric, "rate asked", rate, "width", width), Is: lab.Inside(least, most)}
}

func sizeParams(most, sizes, queries int) lab.Params {
	return lab.Params{
		lab.Int("least keys", 1_000), lab.Int("most keys", most), lab.Int("sizes", sizes), lab.Int("queries", queries),
		lab.Floats("rates", 0.01, 0.001), lab.Ints("widths", 56, 32),
	}
}

// A stage is a look at a filter on its way. What is judged of the last doubling has no
// value before, means have one at the last size only.
type stage struct {
	walk.Look
	last              bool // in the last doubling
	rate              float64
	meanFast, meanAll float64
}

func runSize(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	sizes, queries := walk.Sizes(e.Int("least keys"), e.Int("most keys"), e.Int("sizes")), e.Int("queries")
	g, err := lab.Sweep(ctx, e, lab.Spec[stage]{
		Name: "sizes", Title: "The filter at each size", Trials: 1,
		Dims: []lab.Dim{lab.Along("rate asked", e.Floats("rates")...), lab.Along("width", e.Ints("widths")...)}, Trace: lab.Along("n", sizes...),
		Follow: func(at lab.At, r *rand.Rand) ([]stage, error) {
			rate := at.Float("rate asked")
			f, err := evergreen.New(evergreen.Config{FPR: rate, Width: at.Int("width")})
			if err != nil {
				return nil, err
			}
			looks, err := (&walk.Walker{F: f, Keys: walk.NewKeys(r)}).Through(ctx, sizes, queries)
			return stages(looks, rate), err
		},
		Metrics: append(stageMetrics(queries, func(s stage) stage { return s }), lastDoubling()...),
		Formulas: []lab.Formula{{Name: "predicted fast bits", Of: func(at lab.At) float64 {
			p, err := evergreen.Config{FPR: at.Float("rate asked"), Width: at.Int("width")}.Predict(uint64(at.Int("n")))
			if err != nil {
				return math.NaN()
			}
			return p.FastBitsPerKey
		}}},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"Filters begin with nothing and are never told how many keys will come. At every size strangers are asked that were not asked before, and as many members. A width of 56 bits is that of whole keys.",
		"Averages are over whole doublings up to the largest filter, from 20,000 keys on.",
	}}, err
}

func stages(looks []walk.Look, rate float64) []stage {
	out, nan := make([]stage, len(looks)), math.NaN()
	if len(looks) == 0 {
		return out
	}
	most := float64(looks[len(looks)-1].Keys)
	whole := math.Exp2(math.Floor(math.Log2(most / 20_000))) // doublings
	sum, n := walk.Look{}, 0.0
	for i, l := range looks {
		keys := float64(l.Keys)
		out[i] = stage{Look: l, rate: rate, last: keys > most/2, meanFast: nan, meanAll: nan}
		if keys > most/whole*1.0001 {
			sum.Fast, sum.Slow, n = sum.Fast+l.Fast, sum.Slow+l.Slow, n+1
		}
	}
	end := &out[len(out)-1]
	end.meanFast, end.meanAll = sum.Fast/n, sum.All()/n
	return out
}

func stageMetrics[T any](queries int, of func(T) stage) []lab.Metric[T] {
	return append(walk.MetricsOf(queries, func(t T) walk.Look { return of(t).Look }),
		lab.Metric[T]{Name: "rate to asked", Of: func(t T) float64 { return of(t).Yes / of(t).rate }},
		lab.Metric[T]{Name: "Info to asked", Of: func(t T) float64 { return of(t).Says / of(t).rate }})
}

func lastDoubling() []lab.Metric[stage] {
	last := func(name string, of func(s stage) float64) lab.Metric[stage] {
		return lab.Metric[stage]{Name: name, Of: func(s stage) float64 {
			if !s.last {
				return math.NaN()
			}
			return of(s)
		}}
	}
	return []lab.Metric[stage]{
		last("fast bits, last doubling", func(s stage) float64 { return s.Fast }),
		last("slow bits, last doubling", func(s stage) float64 { return s.Slow }),
		last("all bits, last doubling", func(s stage) float64 { return s.All() }),
		{Name: "fast bits, mean", Of: func(s stage) float64 { return s.meanFast }},
		{Name: "all bits, mean", Of: func(s stage) float64 { return s.meanAll }},
	}
}

var asked = lab.Experiment{
	ID:       "evergreen/asked",
	Title:    "Any asked rate",
	Question: "Is every asked rate held, from one in two to one in 100,000, and what does it cost?",
	Says: "Config: \"FPR is the rate of false positives that the filter keeps at every size, from 1e-9 to 0.5\"; " +
		"the number of bits per key is the best by the exact mixture over the blocks' loads.",
	Quick: askedParams(50_000, 5, 50_000, 0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001),
	Full:  askedParams(2_000_000, 21, 3_000_000, 0.5, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001, 0.00003, 0.00001),
	Run:   runAsked,
	Plots: []lab.View{
		{
			Name: "rate", Title: "The rate that was asked for, and the one that came out", X: "rate asked", XAxis: lab.Axis{Label: "asked rate", Log: true, Percent: true},
			Y: lab.Axis{Label: "false positives", Log: true, Percent: true}, Curves: []lab.Curve{{Name: "measured", Measured: "rate", Style: lab.Dots}, {Formula: "asked", Style: lab.Dashed}},
		},
		{
			Name: "cost", Title: "What growing a block at a time costs in fast memory", X: "rate asked", XAxis: lab.Axis{Label: "asked rate", Log: true, Percent: true},
			Y: lab.Axis{Label: "fast bits per key"}, Curves: []lab.Curve{{Name: "evergreen, most", Measured: "most"}, {Name: "evergreen, average", Measured: "average"}, {Name: "evergreen, least", Measured: "least"}, {Formula: "blocked, fixed size", Style: lab.Dashed}},
		},
	},
	Claims: []lab.Claim{
		{Name: "rate", Printed: keeps, Where: comment, Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
	},
}

func askedParams(keys, sizes, queries int, rates ...float64) lab.Params {
	return lab.Params{lab.Floats("rates", rates...), lab.Int("keys", keys), lab.Int("sizes", sizes), lab.Int("queries", queries)}
}

// A doubling is what a filter was like over one.
type doubling struct{ yes, denied, least, most, average float64 }

func runAsked(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	sizes, queries := walk.Sizes(e.Int("keys")/2, e.Int("keys"), e.Int("sizes")), e.Int("queries")
	g, err := lab.Sweep(ctx, e, lab.Spec[doubling]{
		Name: "rates", Title: "Asked and measured, over one doubling", Dims: []lab.Dim{lab.Along("rate asked", e.Floats("rates")...)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (doubling, error) {
			f, err := evergreen.New(evergreen.Config{FPR: at.Float("rate asked")})
			if err != nil {
				return doubling{}, err
			}
			looks, err := (&walk.Walker{F: f, Keys: walk.NewKeys(r)}).Through(ctx, sizes, queries)
			d := doubling{least: math.Inf(1)}
			for _, l := range looks {
				n := float64(len(looks))
				d.yes, d.denied, d.average = d.yes+l.Yes/n, d.denied+l.Denied, d.average+l.Fast/n
				d.least, d.most = min(d.least, l.Fast), max(d.most, l.Fast)
			}
			return d, err
		},
		Metrics: []lab.Metric[doubling]{
			{Name: "rate", Unit: lab.InPercent, Of: func(d doubling) float64 { return d.yes }, Asked: func(lab.At) int { return queries * len(sizes) }},
			{Name: "false negatives", Unit: lab.InPercent, Of: func(d doubling) float64 { return d.denied }},
			{Name: "least", Of: func(d doubling) float64 { return d.least }},
			{Name: "average", Of: func(d doubling) float64 { return d.average }},
			{Name: "most", Of: func(d doubling) float64 { return d.most }},
		},
		Formulas: []lab.Formula{
			{Name: "asked", Unit: lab.InPercent, Of: func(at lab.At) float64 { return at.Float("rate asked") }},
			{Name: "blocked, fixed size", Of: func(at lab.At) float64 { bits, _ := theory.BlockedBits(at.Float("rate asked")); return bits }},
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{"Each filter is looked at over its last doubling; rates are those of all looks together. Least, average and most are fast bits per key."}}, err
}
