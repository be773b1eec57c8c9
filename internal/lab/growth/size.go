package growth

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// variant is a filter that grows from nothing.
type variant struct {
	name string
	rate float64
	make func(rate float64) (filter.Filter, error)
}

func newEvergreen(rate float64) (filter.Filter, error) {
	return evergreen.New(evergreen.Config{FPR: rate})
}

func newCompact(rate float64) (filter.Filter, error) {
	return evergreen.New(evergreen.Config{FPR: rate, Width: 32})
}

func newPerennial(rate float64) (filter.Filter, error) {
	return perennial.New(perennial.Config{FPR: rate})
}

// at is a variant for each rate.
func at(name string, build func(rate float64) (filter.Filter, error), rates ...float64) (list []variant) {
	for _, rate := range rates {
		list = append(list, variant{lab.Percent(rate) + name, rate, build})
	}
	return list
}

var (
	evergreens = at("", newEvergreen, 0.01, 0.001)
	compacts   = at(", compact", newCompact, 0.01, 0.001)
	perennials = at("", newPerennial, 0.01, 0.001)
	keysAxis   = lab.Axis{Label: "keys", Log: true}
)

var size = lab.Experiment{
	ID:       "evergreen/size",
	Title:    "Rate and memory while the set grows",
	Question: "Does the rate stay at the asked one at every size, and what does that cost in fast and in slow memory?",
	Says:     "Package comment: the rate is kept to within a 128th; fast and slow bits per key at 1 % and 0.1 %, compact with 32 bits too. README: about 80 bits per key in all at 1 %, of which queries read 12.",
	Quick:    sizeParams(1_000, 1_000_000, 201, 20_000), Full: sizeParams(1_000, 50_000_000, 313, 500_000),
	Run: growing(append(evergreens, compacts...)),
	Plots: []lab.View{
		{Name: "rate", Title: "The measured rate, as a share of the asked one", X: "n", By: "filter", XAxis: keysAxis, Y: lab.Axis{Label: "false positives ÷ asked rate"}, Curves: []lab.Curve{{Measured: "rate to asked", Style: lab.Dots}}},
		// The smallest filter has 16 KiB, whatever the keys.
		{Name: "fast", Title: "Fast memory, which queries read", X: "n", By: "filter", XAxis: keysAxis, Y: lab.Axis{Label: "bits per key", Max: 40}, Curves: []lab.Curve{{Measured: "fast bits per key", Style: lab.Line}}},
		{Name: "all", Title: "All memory, fast and slow", X: "n", By: "filter", XAxis: keysAxis, Y: lab.Axis{Label: "bits per key", Max: 160}, Curves: []lab.Curve{{Measured: "bits per key", Style: lab.Line}}},
	},
	Claims: append(keptClaims(1+1.0/128),
		inside("fast bits per key, 1 %", "fast bits, last doubling", "10.1", "13.5", "1.00 %"),
		inside("fast bits per key, 0.1 %", "fast bits, last doubling", "15.7", "21.6", "0.100 %"),
		inside("slow bits per key, 1 %", "slow bits, last doubling", "67", "70", "1.00 %"),
		inside("slow bits per key, 1 %, compact", "slow bits, last doubling", "39", "42", "1.00 %, compact"),
		inside("slow bits per key, 0.1 %", "slow bits, last doubling", "68", "72", "0.100 %"),
		inside("slow bits per key, 0.1 %, compact", "slow bits, last doubling", "41", "45", "0.100 %, compact"),
		inside("bits per key in all, 1 %", "all bits, last doubling", "78", "84", "1.00 %"),
		inside("bits per key in all, 1 %, compact", "all bits, last doubling", "49", "54", "1.00 %, compact"),
		lab.Claim{Name: "fast memory of compact filters, 1 %", Printed: "1.02 times that with whole keys at most, up to 50 million keys", Where: comment, Of: compactTo("1.00 %"), Is: lab.AtMost(lab.Number(1.02))},
		lab.Claim{Name: "fast memory of compact filters, 0.1 %", Printed: "1.02 times that with whole keys at most, up to 50 million keys", Where: comment, Of: compactTo("0.100 %"), Is: lab.AtMost(lab.Number(1.02))},
		lab.Claim{Name: "fast bits over a doubling, 1 %", Printed: "12.2 on average", Where: comment, Of: lab.Of("fast bits, mean", "filter", "1.00 %"), Is: lab.Rounds(), FullOnly: true},
		lab.Claim{Name: "fast bits over a doubling, 0.1 %", Printed: "19.3 on average", Where: comment, Of: lab.Of("fast bits, mean", "filter", "0.100 %"), Is: lab.Rounds(), FullOnly: true},
		lab.Claim{Name: "bits per key in all on average, 1 %", Printed: "80 (about)", Where: "README", Of: lab.Of("all bits, mean", "filter", "1.00 %"), Is: lab.Around()},
		lab.Claim{Name: "bits per key that queries read, 1 %", Printed: "12", Where: "README", Of: lab.Of("fast bits, mean", "filter", "1.00 %"), Is: lab.Rounds()}),
}

// inside is a claim on a range of the last doubling: at small sizes pages of 4 KiB
// weigh more.
func inside(name, metric, least, most, filter string) lab.Claim {
	return lab.Claim{Name: name, Printed: least + " to " + most, Where: comment, Of: lab.Of(metric, "filter", filter), Is: lab.Inside(least, most)}
}

func compactTo(rate string) lab.Pick {
	return lab.Of("fast bits, last doubling", "filter", rate+", compact").Over(lab.Of("fast bits, last doubling", "filter", rate))
}

// keptClaims are those of all filters that grow; by its own account a filter may be above
// the asked rate by a factor.
func keptClaims(factor float64) []lab.Claim {
	return []lab.Claim{
		{Name: "rate", Printed: keeps, Where: comment, Of: lab.Of("rate"), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "rate by its own account", Printed: keeps, Where: comment, Of: lab.Of("Info to asked"), Is: lab.AtMost(lab.Number(factor))},
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
	}
}

func sizeParams(least, most, sizes, queries int) lab.Params {
	return lab.Params{lab.Int("least keys", least), lab.Int("most keys", most), lab.Int("sizes", sizes), lab.Int("queries", queries)}
}

var asked = lab.Experiment{
	ID:       "evergreen/asked",
	Title:    "Any asked rate",
	Question: "Is every asked rate held over a doubling, from one in two to one in 100,000?",
	Says:     "Config: \"FPR is the rate of false positives that the filter keeps at every size, from 1e-9 to 0.5\".",
	Quick:    sizeParams(25_000, 50_000, 5, 50_000), Full: sizeParams(1_000_000, 2_000_000, 21, 3_000_000),
	Run:    growing(at("", newEvergreen, 0.5, 0.1, 0.03, 0.01, 0.001, 0.0001, 0.00001)),
	Claims: keptClaims(1 + 1.0/128),
}

var perennialSize = lab.Experiment{
	ID:       "perennial/size",
	Title:    "Memory and rate while the set grows",
	Question: "Does the filter stay at 16 bits per key and at the asked rate at every size?",
	Says:     "Design 9: from 20,000 keys on at most 16.9 bits per key at 1 %, 16.4 on average, and 20.6 and 20.1 at 0.1 %; the rate is kept at every size.",
	Quick:    sizeParams(1_000, 500_000, 181, 4_000), Full: sizeParams(1_000, 50_000_000, 313, 1_000_000),
	Run: growing(perennials),
	Plots: []lab.View{
		{Name: "bits", Title: "All memory", X: "n", By: "filter", XAxis: keysAxis, Y: lab.Axis{Label: "bits per key", Max: 30}, Curves: []lab.Curve{{Measured: "bits per key", Style: lab.Line}}},
		{Name: "rate", Title: "The measured rate, as a share of the asked one", X: "n", By: "filter", XAxis: keysAxis, Y: lab.Axis{Label: "false positives ÷ asked rate"}, Curves: []lab.Curve{{Measured: "rate to asked", Style: lab.Dots}}},
	},
	Claims: append(keptClaims(1),
		atMost("bits per key, 1 %", "16.9", "most from 20,000 keys", "1.00 %", 16.95),
		atMost("bits per key on average, 1 %", "16.4", "all bits, mean", "1.00 %", 16.45),
		atMost("bits per key, 0.1 %", "20.6", "most from 20,000 keys", "0.100 %", 20.65),
		atMost("bits per key on average, 0.1 %", "20.1", "all bits, mean", "0.100 %", 20.15)),
}

func atMost(name, printed, metric, filter string, most float64) lab.Claim {
	return lab.Claim{Name: name, Printed: printed + " at most, from 20,000 keys on", Where: "design 9", Of: lab.Of(metric, "filter", filter), Is: lab.AtMost(lab.Number(most))}
}

// stage is a look at a filter on its way. What is not judged there is NaN.
type stage struct {
	walk.Look
	rate              float64 // asked
	last              float64 // 1 in the last doubling
	large             float64 // 1 from 20,000 keys on
	meanFast, meanAll float64 // at the last size
}

func variantDim(list []variant) lab.Dim {
	return lab.AmongAll("filter", list, func(v variant) string { return v.name })
}

func askedOf(list []variant) lab.Formula {
	return lab.Formula{Name: "asked", Unit: lab.InPercent, Of: func(at lab.At) float64 { return list[at.Int("filter")].rate }}
}

// growing leads filters through all sizes.
func growing(list []variant) func(context.Context, *lab.Env) (*lab.Result, error) {
	return func(ctx context.Context, e *lab.Env) (*lab.Result, error) {
		sizes, queries := walk.Sizes(e.Int("least keys"), e.Int("most keys"), e.Int("sizes")), e.Int("queries")
		g, err := lab.Sweep(ctx, e, lab.Spec[stage]{
			Name: "sizes", Title: "The filter at each size", Dims: []lab.Dim{variantDim(list)}, Trace: lab.Along("n", sizes...), Trials: 1,
			Follow: func(at lab.At, r *rand.Rand) ([]stage, error) {
				v := list[at.Int("filter")]
				f, err := v.make(v.rate)
				if err != nil {
					return nil, err
				}
				looks, err := (&walk.Walker{F: f, Keys: walk.NewKeys(r)}).Through(ctx, sizes, queries)
				return stages(looks, v.rate), err
			},
			Metrics:  stageMetrics(queries),
			Formulas: []lab.Formula{askedOf(list)},
		})
		return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
			"Filters begin with nothing and are not told how many keys will come. At every size absent keys are asked about that were not asked about before, and as many present ones. Means are over whole doublings up to the largest filter, from 20,000 keys on.",
		}}, err
	}
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
		out[i] = stage{Look: l, rate: rate, last: lab.OneIf(keys > most/2), large: lab.OneIf(keys >= 20_000), meanFast: nan, meanAll: nan}
		if keys > most/whole*1.0001 {
			sum.Fast, sum.Slow, n = sum.Fast+l.Fast, sum.Slow+l.Slow, n+1
		}
	}
	end := &out[len(out)-1]
	end.meanFast, end.meanAll = sum.Fast/n, sum.All()/n
	return out
}

// only is a value where something holds.
func only(holds, value float64) float64 {
	if holds == 0 {
		return math.NaN()
	}
	return value
}

func stageMetrics(queries int) []lab.Metric[stage] {
	metric := func(name string, of func(s stage) float64) lab.Metric[stage] {
		return lab.Metric[stage]{Name: name, Of: of}
	}
	return append(walk.MetricsOf(queries, func(s stage) walk.Look { return s.Look }),
		metric("rate to asked", func(s stage) float64 { return s.Yes / s.rate }),
		metric("Info to asked", func(s stage) float64 { return s.Says / s.rate }),
		metric("most from 20,000 keys", func(s stage) float64 { return only(s.large, s.Most) }),
		metric("fast bits, last doubling", func(s stage) float64 { return only(s.last, s.Fast) }),
		metric("slow bits, last doubling", func(s stage) float64 { return only(s.last, s.Slow) }),
		metric("all bits, last doubling", func(s stage) float64 { return only(s.last, s.All()) }),
		metric("fast bits, mean", func(s stage) float64 { return s.meanFast }),
		metric("all bits, mean", func(s stage) float64 { return s.meanAll }))
}
