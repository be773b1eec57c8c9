package dlcbf06

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

const (
	sixAndAHalf  = 53_248 // 8,192 times 6.5
	asPrinted    = 53_428
	printedLoad  = float64(asPrinted) / exampleBuckets
	failsafeKeys = 55_296 // a load of 6.75
)

var overflow = lab.Experiment{
	ID:       "dlcbf06/overflow",
	Title:    "Overflow at a load of 6.5, and moving keys to avoid it",
	Question: "How often does some key find all its buckets full, does the fluid limit tell, and how far do moves of keys carry?",
	Says: "Sec. 5.2: an average load of 6.5, \"53428 elements\" in 8,192 buckets of 8: by the fluid limit the share of buckets with load 9 is 2.205e-08, so that slightly over 2 % of the trials should overflow; 254 of 10,000 did. " +
		"With elements of the first subarray moved to another of their choices 55,296 elements, a load of 6.75, were handled without overflow, with 40 to 100 moves in each trial. Greater loads could be handled by more movement.",
	Params: lab.Params{
		lab.Int("trials", 4).Full(paperTrials), lab.Int("trials with 53,428 elements", 2).Full(paperTrials / 20), lab.Int("steps", paperSteps), lab.Floats("further loads", 7.5).Full(7.25, 7.375, 7.5, 7.625, 7.75, 7.875, 7.9375),
		lab.Int("further trials", 2).Full(10), lab.Int("further steps", 1<<16).Full(1 << 19),
	},
	Run: runOverflow,
	Plots: []lab.View{
		{
			Name: "odds-by-load", Title: "Trials of 2^20 steps in which some key finds no room", X: "load", XAxis: lab.Axis{Label: "keys per bucket"}, Y: lab.Axis{Label: "share of trials", Log: true, Percent: true},
			Curves: []lab.Curve{
				{Name: "equal fingerprints share a cell", Formula: "by the fluid limit"},
				{Name: "every key in a cell of its own", Formula: "by the fluid limit, own cells", Style: lab.Dashed},
				{Name: "measured", Measured: "overflow"},
				{Name: "measured, 53,428 elements", Measured: "overflow as printed"},
			},
			Marks: []lab.Mark{{X: 6.5, Y: 0.0254, Text: "254 of 10,000"}},
		},
		{
			Name: "no-room", Title: "Trials in which some key found no room", X: "load", By: movement, XAxis: lab.Axis{Label: "keys per bucket of 8"}, Y: lab.Axis{Label: "share of trials", Percent: true},
			Curves: []lab.Curve{{Measured: "no room"}},
		},
	},
	Claims: []lab.Claim{
		{Kind: lab.Erratum, Name: "elements at a load of 6.5", Printed: "53,428", Where: "Sec. 5.2", Of: lab.Of("elements", "load", 6.5), Is: lab.Rounds(), Why: slip},
		{Name: "share of buckets with load 9 at load 6.5", Printed: "2.205e-08", Where: "Sec. 5.2", Of: lab.Of("buckets with load 9", "load", 6.5), Is: lab.Rounds()},
		{Kind: lab.Erratum, Name: "the same at 53,428 elements", Printed: "2.205e-08", Where: "Sec. 5.2", Of: lab.Of("buckets with load 9", "load", printedLoad), Is: lab.Rounds(), Why: slip},
		{Name: "trials that overflow: the share times the steps", Printed: "2 %: \"slightly over\"", Where: "Sec. 5.2", Of: lab.Of("times 2^20 steps", "load", 6.5), Is: lab.JustOver()},
		{Name: "overflow, 53,248 elements", Printed: "2.54 %: 254 of 10,000 trials", Where: "Sec. 5.2", Of: lab.Of("overflow"), Is: lab.Agrees(paperTrials)},
		{
			Kind: lab.Erratum, Name: "overflow, 53,428 elements", Printed: "2.54 %: 254 of 10,000 trials", Where: "Sec. 5.2", Of: lab.Of("overflow as printed"), Is: lab.Agrees(paperTrials), FullOnly: true,
			Why: "the number of elements is a slip: 53,248 are a load of 6.5, and fit",
		},
		{Kind: lab.Own, Name: "overflow by the fluid limit", Printed: "four full buckets, from the first step on, with the cells that are used", Of: lab.Of("overflow"), Is: lab.Matches(lab.Of("by the fluid limit"))},
		{Name: "no overflow at a load of 6.75", Printed: "0 of 10,000 trials in which moving made no room", Where: "Sec. 5.2", Of: lab.Of("no room for a key"), Is: lab.Zero()},
		{
			Name: "moves in a trial", Printed: "between 40 to 100, taken as 35 to 105", Where: "Sec. 5.2", Of: lab.Of("trials outside 35 to 105"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("moves")}, FullOnly: true,
			Why: "unexplained. 2^20 steps give 59 moves on average, from about 30 to 90. The printed range needs an average of 67. Elements with cells of their own would have it, but not 254 overflows at a load of 6.5, nor the simulated column of Table 1. " +
				"64/3 steps for each element, which are the 2^20 of 49,152, would fit all three; the paper does not say so",
		},
		{Kind: lab.Own, Name: "moves by the fluid limit", Printed: "1.0 times the keys that find four full buckets, from the first step on", Of: lab.Of("moves").Over(lab.Of("moves by the fluid limit")), Is: lab.Agrees(0)},
		{Kind: lab.Question, Name: "readings: moves on average, 66 to 71 are needed", Of: lab.Of("moves at 6.75"), Is: lab.Shows()},
		{Kind: lab.Question, Name: "readings: overflows of 10,000 at 6.5, 254 are printed", Of: lab.Of("overflows at 6.5"), Is: lab.Shows()},
		{Kind: lab.Question, Name: "readings: load ≥ 7 of Table 1, 0.2868 is printed", Of: lab.Of("load ≥ 7"), Is: lab.Shows()},
		{
			Name: "greater loads by more movement", Printed: "could be handled by allowing more movement", Where: "Sec. 5.2", Of: lab.Of("no room", movement, "one move, any subarray", "load", 7.5), Is: lab.Below(lab.Of("no room", movement, "one move, first subarray")),
			FullOnly: true, Show: []lab.Pick{lab.Of("no room", movement, "two moves, any subarray", "load", 7.9375), lab.Of("no room", movement, "one move, any subarray", "load", 7.9375)},
			Why: "ten trials are too few at this load, none of ten against six of ten. At 7.625 and 7.75 it is none of ten against all of ten, as the paper expects (picture)",
		},
		{Kind: lab.Own, Name: "no key is denied, however many were moved", Printed: "none", Of: lab.Of("keys denied"), Is: lab.Zero()},
	},
}

const (
	movement = "movement"
	slip     = "8,192 times 6.5 is 53,248: two digits are exchanged, and the paper computed with 6.5"
)

// full is the mean number of keys that find four full buckets in a trial.
func full(cells, steps float64) float64 { return theory.DLeftChurnFull(4, 8, 2048, cells, steps) }

func runOverflow(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	steps := float64(e.Int("steps"))
	trial := func(at lab.At, r *rand.Rand) (lab.Figures, error) {
		l, err := live(int(math.Round(at.Float("load")*exampleBuckets)), int(steps), int(steps), 0, r)
		l["overflow as printed"], l["trials outside 35 to 105"] = l["overflow"], lab.OneIf(l["moves"] < 35 || l["moves"] > 105)
		return l, err
	}
	share := func(name string) []lab.Metric {
		return []lab.Metric{{Name: name, Unit: lab.InPercent, Asked: lab.Each(1)}}
	}
	return lab.Find(ctx, e, fluidLimit(steps), readings(),
		lab.Sweep{Name: "trials", Title: "Trials in which some key found no room", Trials: e.Int("trials"), Dims: []lab.Dim{lab.Along("load", 6.5)}, Trial: trial, Metrics: share("overflow")},
		lab.Sweep{Name: "as-printed", Title: "The same with 53,428 elements", Trials: e.Int("trials with 53,428 elements"), Dims: []lab.Dim{lab.Along("load", printedLoad)}, Trial: trial, Metrics: share("overflow as printed")},
		lab.Sweep{
			Name: "moved", Title: "Trials at a load of 6.75", Trials: e.Int("trials"), Dims: []lab.Dim{lab.Along("load", 6.75)}, Trial: trial,
			Metrics:  []lab.Metric{{Name: "moves"}, {Name: "no room for a key"}, {Name: "trials outside 35 to 105"}},
			Formulas: []lab.Formula{lab.Fixed("moves by the fluid limit", lab.Plain, full(distinct(failsafeKeys), steps))},
		},
		moreMoves(e),
		lab.Notes{
			"Up to the first key that finds no room a filter that moves keys is the same as one that does not: a trial counts as overflow if something had to be moved.",
			"A key overflows if all its four buckets are full. The paper takes the share of buckets that would hold nine, which is near to it here.",
		})
}

// fluidLimit computes the odds of an overflow.
func fluidLimit(steps float64) lab.Part {
	elements := func(at lab.At) float64 { return at.Float("load") * exampleBuckets }
	nine := func(at lab.At) float64 { return theory.DLeftSteadyLoads(4, at.Float("load"), levels)[levels-1] }
	return lab.Computed("odds", "Odds of four full buckets in a trial, by the fluid limit", []lab.Dim{lab.Along("load", 6.3, 6.4, 6.5, printedLoad, 6.6, 6.7)},
		lab.Formula{Name: "elements", Of: elements}, lab.Formula{Name: "buckets with load 9", Of: nine},
		lab.Formula{Name: "times 2^20 steps", Unit: lab.InPercent, Of: func(at lab.At) float64 { return nine(at) * paperSteps }},
		lab.Formula{Name: "by the fluid limit", Unit: lab.InPercent, Of: func(at lab.At) float64 { return -math.Expm1(-full(distinct(elements(at)), steps)) }},
		lab.Formula{Name: "by the fluid limit, own cells", Unit: lab.InPercent, Of: func(at lab.At) float64 { return -math.Expm1(-full(elements(at), steps)) }})
}

// readings computes what three readings of the paper say of three things it prints.
func readings() lab.Part {
	const reading = "reading"
	names := []string{"2^20 steps, equal fingerprints share a cell", "2^20 steps, every element has its own", "64/3 steps for each element, shared cells"}
	cells := func(at lab.At, n float64) float64 {
		if at.Int(reading) == 1 {
			return n
		}
		return distinct(n)
	}
	found := func(at lab.At, n float64) float64 {
		return full(cells(at, n), []float64{paperSteps, paperSteps, n * paperSteps / exampleKeys}[at.Int(reading)])
	}
	return lab.Computed("readings", "Which reading fits all that is printed?", []lab.Dim{lab.Among(reading, names...)},
		lab.Formula{Name: "moves at 6.75", Of: func(at lab.At) float64 { return found(at, failsafeKeys) }},
		lab.Formula{Name: "overflows at 6.5", Of: func(at lab.At) float64 { return paperTrials * -math.Expm1(-found(at, sixAndAHalf)) }},
		lab.Formula{Name: "load ≥ 7", Of: func(at lab.At) float64 {
			return theory.DLeftSteadyLoads(4, cells(at, exampleKeys)/exampleBuckets, levels)[6]
		}})
}

// moreMoves are loads beyond one move, in a sketch: the filter itself moves one key of the
// first subarray.
func moreMoves(e *lab.Env) lab.Part {
	rules := []string{"one move, first subarray", "one move, any subarray", "two moves, any subarray"}
	return lab.Sweep{
		Name: "further", Title: "Trials at greater loads, up to the first key without room", Dims: []lab.Dim{lab.Among(movement, rules...), lab.Along("load", e.Floats("further loads")...)},
		Trials: e.Int("further trials"),
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			s := &sketch{locate: permuted(false)(r), moves: 1 + at.Int(movement)/2, first: at.Int(movement) == 0}
			return s.try(int(at.Float("load")*exampleBuckets), e.Int("further steps"), r)
		},
		Metrics: []lab.Metric{{Name: "no room", Unit: lab.InPercent, Asked: lab.Each(1)}, {Name: "keys denied"}, {Name: "moves per thousand steps"}},
	}
}
