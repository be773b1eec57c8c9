package dlcbf06

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

const (
	sixAndAHalf = 53_248 // 8,192 times 6.5
	asPrinted   = 53_428
	printedLoad = float64(asPrinted) / exampleBuckets
)

var overflow = lab.Experiment{
	ID:       "dlcbf06/overflow",
	Paper:    paper,
	Title:    "Overflow at a load of 6.5",
	Question: "How often does some key find all its buckets full at a load of 6.5, if nothing can be moved, and does the fluid limit tell?",
	Says: "Sec. 5.2: an average load of 6.5, \"53428 elements\" in 8,192 buckets of 8. By the fluid limit the share of buckets with load 9 is 2.205e-08, " +
		"so that in just over a million steps slightly over 2 % of the trials should overflow; 254 of 10,000 did.",
	Quick: lab.Params{lab.Int("trials", 3), lab.Int("trials with 53,428 elements", 2), lab.Int("steps", paperSteps)},
	Full:  lab.Params{lab.Int("trials", paperTrials), lab.Int("trials with 53,428 elements", 500), lab.Int("steps", paperSteps)},
	Run:   runOverflow,
	Plots: []lab.View{{
		Name: "odds-by-load", Title: "Trials of 2^20 steps in which some key finds no room", X: "load", XAxis: lab.Axis{Label: "keys per bucket"}, Y: lab.Axis{Label: "share of trials", Log: true, Percent: true},
		Curves: []lab.Curve{
			{Name: "equal fingerprints share a cell", Formula: "by the fluid limit"},
			{Name: "every key in a cell of its own", Formula: "by the fluid limit, own cells", Style: lab.Dashed},
			{Name: "measured", Measured: "overflow"},
			{Name: "measured, 53,428 elements", Measured: "overflow as printed"},
		},
		Marks: []lab.Mark{{X: 6.5, Y: 0.0254, Text: "254 of 10,000"}},
	}},
	Claims: []lab.Claim{
		{Kind: lab.Erratum, Name: "elements at a load of 6.5", Printed: "53,428", Where: "Sec. 5.2", Of: lab.Of("elements", "load", 6.5), Is: lab.Rounds(), Why: slip},
		{Name: "share of buckets with load 9 at load 6.5", Printed: "2.205e-08", Where: "Sec. 5.2", Of: lab.Of("buckets with load 9", "load", 6.5), Is: lab.Rounds()},
		{Kind: lab.Erratum, Name: "the same at 53,428 elements", Printed: "2.205e-08", Where: "Sec. 5.2", Of: lab.Of("buckets with load 9", "load", printedLoad), Is: lab.Rounds(), Why: slip},
		{Name: "trials that overflow: the share times the steps", Printed: "2 %: \"slightly over\"", Where: "Sec. 5.2", Of: lab.Of("times 2^20 steps", "load", 6.5), Is: lab.Around()},
		{Name: "overflow, 53,248 elements", Printed: "2.54 %: 254 of 10,000 trials", Where: "Sec. 5.2", Of: lab.Of("overflow"), Is: lab.Agrees(paperTrials)},
		{
			Kind: lab.Erratum, Name: "overflow, 53,428 elements", Printed: "2.54 %: 254 of 10,000 trials", Where: "Sec. 5.2", Of: lab.Of("overflow as printed"), Is: lab.Agrees(paperTrials), FullOnly: true,
			Why: "the number of elements is a slip: 53,248 are a load of 6.5, and fit",
		},
		{Kind: lab.Own, Name: "overflow by the fluid limit", Printed: "four full buckets, from the first step on, with the cells that are used", Of: lab.Of("overflow"), Is: lab.Matches(lab.Of("by the fluid limit"))},
	},
}

const slip = "8,192 times 6.5 is 53,248: two digits are exchanged, and the paper computed with 6.5"

// churnOverflow is the probability that a key finds all buckets full in a trial.
func churnOverflow(n float64, steps int) float64 {
	return -math.Expm1(-theory.DLeftChurnFull(4, 8, 2048, n, float64(steps)))
}

func runOverflow(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	steps := e.Int("steps")
	measure := func(name, metric string, trials int, load float64) (*lab.Grid, error) {
		return lab.Sweep(ctx, e, lab.Spec[life]{
			Name: name, Title: "Trials in which some key found no room", Dims: []lab.Dim{lab.Along("load", load)}, Trials: trials,
			Trial: func(at lab.At, r *rand.Rand) (life, error) {
				return live(int(at.Float("load")*exampleBuckets), steps, steps, 0, r)
			},
			Metrics: []lab.Metric[life]{{Name: metric, Unit: lab.InPercent, Of: func(l life) float64 { return l.overflow }, Asked: lab.Each(1)}},
		})
	}
	e.Part(0, 2)
	right, err := measure("trials", "overflow", e.Int("trials"), 6.5)
	if err != nil {
		return nil, err
	}
	e.Part(1, 2)
	wrong, err := measure("as-printed", "overflow as printed", e.Int("trials with 53,428 elements"), printedLoad)
	nine := func(at lab.At) float64 { return theory.DLeftSteadyLoads(4, at.Float("load"), levels)[levels-1] }
	fluid := lab.Computed("odds", "Odds of four full buckets in a trial, by the fluid limit", []lab.Dim{lab.Along("load", 6.3, 6.4, 6.5, printedLoad, 6.6, 6.7)},
		lab.Formula{Name: "elements", Of: func(at lab.At) float64 { return at.Float("load") * exampleBuckets }},
		lab.Formula{Name: "buckets with load 9", Of: nine}, lab.Formula{Name: "times 2^20 steps", Unit: lab.InPercent, Of: func(at lab.At) float64 { return nine(at) * paperSteps }},
		lab.Formula{Name: "by the fluid limit", Unit: lab.InPercent, Of: func(at lab.At) float64 { return churnOverflow(distinct(at.Float("load")*exampleBuckets), steps) }},
		lab.Formula{Name: "by the fluid limit, own cells", Unit: lab.InPercent, Of: func(at lab.At) float64 { return churnOverflow(at.Float("load")*exampleBuckets, steps) }})
	return &lab.Result{Grids: []*lab.Grid{right, wrong, fluid}, Notes: []string{
		"Up to the first key that finds no room a filter that moves keys is the same as one that does not: a trial counts as overflow if something had to be moved.",
		"A key overflows if all its four buckets are full. The paper takes the share of buckets that would hold nine, which is near to it here.",
	}}, err
}
