package perennial

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

const (
	own      = "perennial, 1 %"
	ownTenth = "perennial, 0.1 %"
	kept     = "it keeps the rate it was asked for at every size"
	none     = "no key that is in the set is ever reported absent"
)

var size = lab.Experiment{
	ID:       "perennial/size",
	Title:    "Memory and rate while the set grows",
	Question: "Does the filter stay at 16 bits per key and at the asked rate at every size, beside the other kinds that grow?",
	Says: "Design 9: from 20,000 keys on at most 16.9 bits per key at 1 %, 16.4 on average, and 20.6 and 20.1 at 0.1 %; the rate is kept at every size. " +
		"Measured elsewhere: InfiniFilter and Aleph 16.5 bits per key when they are fullest and twice that after a doubling, their rate 0.16 to 0.93 % over ten doublings.",
	Quick: sizeParams(500_000, 181, 4_000), Full: sizeParams(50_000_000, 313, 1_000_000),
	Run: runSize,
	Plots: []lab.View{
		{
			Name: "bits", Title: "All memory", X: "n", By: "filter", Only: []any{own, ownTenth, "evergreen, 1 %", "scalable, 1 %"}, XAxis: lab.Axis{Label: "keys", Log: true},
			Y:      lab.Axis{Label: "bits per key", Max: 100},
			Curves: []lab.Curve{{Measured: "bits per key", Style: lab.Line}, {Formula: "InfiniFilter, Aleph (theirs)", Style: lab.Dashed, Once: true}},
		},
		{
			Name: "rate", Title: "The measured rate, as a share of the asked one", X: "n", By: "filter", Only: []any{own, ownTenth, "evergreen, 1 %", "scalable, 1 %"},
			XAxis: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "false positives ÷ asked rate"},
			Curves: []lab.Curve{{Measured: "rate to asked", Style: lab.Dots}, {Formula: "InfiniFilter to its last (theirs)", Style: lab.Dashed, Once: true}},
		},
	},
	Claims: []lab.Claim{
		{Name: "rate, 1 %", Printed: kept, Where: "package comment", Of: lab.Of("rate", "filter", own), Is: lab.AtMost(lab.Number(0.01))},
		{Name: "rate, 0.1 %", Printed: kept, Where: "package comment", Of: lab.Of("rate", "filter", ownTenth), Is: lab.AtMost(lab.Number(0.001))},
		{Name: "rate by Info, 1 %", Printed: kept, Where: "package comment", Of: lab.Of("rate by Info", "filter", own), Is: lab.AtMost(lab.Number(0.01))},
		{Name: "rate by Info, 0.1 %", Printed: kept, Where: "package comment", Of: lab.Of("rate by Info", "filter", ownTenth), Is: lab.AtMost(lab.Number(0.001))},
		{Name: "no false negatives", Printed: none, Where: "package comment", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "bits per key, 1 %", Printed: "16.9 at most, from 20,000 keys on", Where: "design 9", Of: lab.Of("most from 20,000 keys", "filter", own), Is: lab.AtMost(lab.Number(16.95))},
		{Name: "bits per key on average, 1 %", Printed: "16.4 at most, from 20,000 keys on", Where: "design 9", Of: lab.Of("mean from 20,000 keys", "filter", own), Is: lab.AtMost(lab.Number(16.45))},
		{Name: "bits per key, 0.1 %", Printed: "20.6 at most, from 20,000 keys on", Where: "design 9", Of: lab.Of("most from 20,000 keys", "filter", ownTenth), Is: lab.AtMost(lab.Number(20.65))},
		{Name: "bits per key on average, 0.1 %", Printed: "20.1 at most, from 20,000 keys on", Where: "design 9", Of: lab.Of("mean from 20,000 keys", "filter", ownTenth), Is: lab.AtMost(lab.Number(20.15))},
	},
}

func sizeParams(most, sizes, queries int) lab.Params {
	return lab.Params{lab.Int("least keys", 1_000), lab.Int("most keys", most), lab.Int("sizes", sizes), lab.Int("queries", queries)}
}

// A contender grows from nothing, or from the least number of keys.
type contender struct {
	name string
	rate float64
	make func(rate float64, first uint64) (filter.Filter, error)
	most int // keys, if memory for more is not to be had everywhere
}

var contenders = []contender{
	{own, 0.01, newPerennial, math.MaxInt},
	{ownTenth, 0.001, newPerennial, math.MaxInt},
	{"evergreen, 1 %", 0.01, func(rate float64, _ uint64) (filter.Filter, error) { return evergreen.New(evergreen.Config{FPR: rate}) }, math.MaxInt},
	{"scalable, 1 %", 0.01, func(rate float64, first uint64) (filter.Filter, error) {
		return scalable.New(scalable.Config{Items: first, FPR: rate})
	}, math.MaxInt},
	{"elastic, 1 %", 0.01, func(rate float64, first uint64) (filter.Filter, error) {
		return elastic.New(elastic.Config{Items: first, FPR: rate})
	}, 2_000_000},
}

func newPerennial(rate float64, _ uint64) (filter.Filter, error) {
	return perennial.New(perennial.Config{FPR: rate})
}

// A stage is a look with what is judged from 20,000 keys on.
type stage struct {
	walk.Look
	rate       float64 // asked
	most, mean float64 // bits per key; the mean at the last size only
}

func lookOf(s stage) walk.Look { return s.Look }

func runSize(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	sizes := walk.Sizes(e.Int("least keys"), e.Int("most keys"), e.Int("sizes"))
	names := make([]string, len(contenders))
	for i, c := range contenders {
		names[i] = c.name
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[stage]{
		Name: "sizes", Title: "The filters at each size", Dims: []lab.Dim{lab.Among("filter", names...)}, Trace: lab.Along("n", sizes...), Trials: 1,
		Follow: func(at lab.At, r *rand.Rand) ([]stage, error) {
			c := contenders[at.Int("filter")]
			f, err := c.make(c.rate, uint64(sizes[0]))
			if err != nil {
				return nil, err
			}
			reached := sizes
			for len(reached) > 1 && reached[len(reached)-1] > c.most {
				reached = reached[:len(reached)-1]
			}
			looks, err := (&walk.Walker{F: f, Keys: walk.NewKeys(r)}).Through(ctx, reached, e.Int("queries"))
			return stages(looks, c.rate, len(sizes)), err
		},
		Metrics: append(walk.MetricsOf(e.Int("queries"), lookOf),
			lab.Metric[stage]{Name: "rate to asked", Of: func(s stage) float64 { return s.Yes / s.rate }},
			lab.Metric[stage]{Name: "most from 20,000 keys", Of: func(s stage) float64 { return s.most }},
			lab.Metric[stage]{Name: "mean from 20,000 keys", Of: func(s stage) float64 { return s.mean }}),
		Formulas: []lab.Formula{
			{Name: "InfiniFilter, Aleph (theirs)", Of: func(at lab.At) float64 { return doublings(at.Float("n")) }},
			{Name: "InfiniFilter to its last (theirs)", Of: func(at lab.At) float64 { return drift(at.Float("n")) }},
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"No filter is told how many keys will come; elastic and scalable begin with room for the least number. elastic ends at 2,000,000 keys, of which each takes more than 2,000 bits of slow memory, and is in the table only.",
		"The lines of InfiniFilter and Aleph are drawn from figures measured with the authors' programs, at another time on another machine: 16.46 bits per key at 79 % fill, and a doubling when it is reached.",
	}}, err
}

// stages adds what is judged; a filter that ends early has no values beyond.
func stages(looks []walk.Look, rate float64, count int) []stage {
	out, sum, n := make([]stage, count), 0.0, 0.0
	for i := range out {
		out[i] = stage{rate: rate, most: math.NaN(), mean: math.NaN()}
		if i >= len(looks) {
			nan := math.NaN()
			out[i].Look = walk.Look{Fast: nan, Slow: nan, Says: nan, Yes: nan, Denied: nan}
			continue
		}
		out[i].Look = looks[i]
		if looks[i].Keys >= 20_000 {
			out[i].most = looks[i].Most
			sum, n = sum+looks[i].All(), n+1
		}
	}
	if n > 0 {
		out[count-1].mean = sum / n
	}
	return out
}

// doublings is the memory of a table that doubles when 79 % of it are taken.
func doublings(n float64) float64 {
	const full = 16.46
	return full * 0.79 * math.Exp2(math.Ceil(math.Log2(n/0.79))) / n
}

// drift is the rate of InfiniFilter over ten doublings of 4,096 slots, as a share of the
// last.
func drift(n float64) float64 {
	rates := []float64{0.16, 0.23, 0.305, 0.39, 0.46, 0.55, 0.61, 0.68, 0.77, 0.84, 0.93}
	i := math.Log2(n / (0.79 * 4096))
	if i < 0 || i > float64(len(rates)-1) {
		return math.NaN()
	}
	low := min(int(i), len(rates)-2)
	return (rates[low] + (i-float64(low))*(rates[low+1]-rates[low])) / rates[len(rates)-1]
}

var shrink = lab.Experiment{
	ID:       "perennial/shrink",
	Title:    "Growing, and shrinking to a hundredth",
	Question: "When most keys are deleted again, does the memory come back, and does the rate stay?",
	Says:     "Design 9: at most 17.5 bits per key on the way down to a hundredth, at the asked rate.",
	Quick:    sizeParams(1_000_000, 134, 4_000), Full: sizeParams(50_000_000, 134, 1_000_000),
	Run: runShrink,
	Plots: []lab.View{
		{
			Name: "bits", Title: "Memory there and back, asked for 1 %", X: "n", By: "way", XAxis: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "bits per key", Max: 30},
			Curves: []lab.Curve{{Measured: "bits per key", Style: lab.Line}},
		},
		{
			Name: "rate", Title: "The rate there and back, asked for 1 %", X: "n", By: "way", XAxis: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "false positives", Percent: true},
			Curves: []lab.Curve{{Measured: "rate", Style: lab.Dots}},
		},
	},
	Claims: []lab.Claim{
		{Name: "rate there and back", Printed: kept, Where: "package comment", Of: lab.Of("rate"), Is: lab.AtMost(lab.Number(0.01))},
		{Name: "rate by Info", Printed: kept, Where: "package comment", Of: lab.Of("rate by Info"), Is: lab.AtMost(lab.Number(0.01))},
		{Name: "no false negatives", Printed: none, Where: "package comment", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "bits per key while shrinking", Printed: "17.5 at most, to a hundredth", Where: "design 9", Of: lab.Of("most", "way", "shrinking"), Is: lab.AtMost(lab.Number(17.55))},
	},
}

func runShrink(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	most := e.Int("most keys")
	sizes := walk.Sizes(most/100, most, e.Int("sizes"))
	g, err := lab.Sweep(ctx, e, lab.Spec[stage]{
		Name: "ways", Title: "There and back", Dims: []lab.Dim{lab.Among("way", "growing", "shrinking")}, Trace: lab.Along("n", sizes...), Trials: 1,
		Follow: func(at lab.At, r *rand.Rand) ([]stage, error) {
			f, err := newPerennial(0.01, 0)
			if err != nil {
				return nil, err
			}
			looks, err := walk.ThereOrBack(ctx, &walk.Walker{F: f, Keys: walk.NewKeys(r)}, sizes, e.Int("queries"), at.Name("way") == "shrinking")
			return stages(looks, 0.01, len(sizes)), err
		},
		Metrics: append(walk.MetricsOf(e.Int("queries"), lookOf), lab.Metric[stage]{Name: "most", Of: func(s stage) float64 { return s.Most }}),
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{"Keys are deleted in the order in which they were added."}}, err
}
