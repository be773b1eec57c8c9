package dlcbf06

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var cbf = lab.Experiment{
	ID:       "dlcbf06/cbf",
	Paper:    paper,
	Title:    "The counting filter of the same rate",
	Question: "How large is a counting filter with the rate of the d-left one, is its rate as printed, and how high do its counters go?",
	Says: "Sec. 5.1: 13.5 counters per element with 9 hash functions, 663552 counters for 49152 elements, 2654208 bits, over 2.5 times the size of the dlCBF. " +
		"10,000 trials as before: the largest counter was 13, in one trial, 12 was reached in 16; rates from 0.00108 to 0.00205, 0.001529 on average. " +
		"A counter overflows with probability 6.79e-17, roughly the same as for the dlCBF.",
	Quick: lab.Params{lab.Int("trials", 20), lab.Int("steps", 1<<17), lab.Int("queries", paperQueries), lab.Int("steps between looks", 1_024)},
	Full:  lab.Params{lab.Int("trials", paperTrials), lab.Int("steps", paperSteps), lab.Int("queries", paperQueries), lab.Int("steps between looks", 1_024)},
	Run:   runCBF,
	Plots: []lab.View{
		{
			Name: "largest", Title: "Trials in which some counter reached a value", X: "counter", Y: lab.Axis{Label: "share of trials", Log: true, Percent: true},
			Curves: []lab.Curve{{Name: "measured", Measured: "reached", Formula: "Poisson approximation"}},
			Marks:  []lab.Mark{{X: 3, Y: 0.0017, Text: "12 in 16 trials of 10,000, 13 in one"}, {X: 4, Y: 0.0001}},
		},
		cbfRates.view(),
	},
	Claims: append(append(cbfConstants.claims, cbfRates.claims()...),
		lab.Claim{Kind: lab.Own, Name: "trials that reached a value", Printed: "the Poisson approximation", Of: lab.Of("reached"), Is: lab.Matches(lab.Of("Poisson approximation"))},
		lab.Claim{Name: "trials that reached 12 or more", Printed: "0.17 %: 16 and 1 of 10,000 trials", Where: "Sec. 5.1", Of: lab.Of("reached", "counter", "12"), Is: lab.Agrees(paperTrials), FullOnly: true},
		lab.Claim{Name: "trials that reached 13", Printed: "0.01 %: 1 of 10,000 trials", Where: "Sec. 5.1", Of: lab.Of("reached", "counter", "13"), Is: lab.Agrees(paperTrials), FullOnly: true},
		lab.Claim{Name: "no counter reached 14", Printed: "0 of 10,000 trials", Where: "Sec. 5.1", Of: lab.Of("reached", "counter", "14"), Is: lab.Zero()},
	),
}

// rival is the counting filter of Sec. 5.1.
var rival = counting.Shape{Counters: 663_552, Hashes: 9, CounterBits: 4}

// cbfRates is what Sec. 5.1 prints about its false positives.
var cbfRates = printedRates{average: "0.001529", least: 0.00108, most: 0.00205, formula: rival.FPR(exampleKeys)}

// cbfConstants are the numbers that need no trial.
var cbfConstants = func() constants {
	one, five := theory.CountingOverflow(math.Ln2, 4), theory.DLeftEqualFingerprints(exampleKeys, fingerprints, 5)
	return constantsOf("computed", "Sec. 5.1 by the formulas",
		lab.Constant{Name: "bits", Printed: "2654208", Where: "Sec. 5.1", Value: float64(rival.Bits())},
		lab.Constant{Name: "size, times that of the dlCBF", Printed: "over 2.5", Where: "Sec. 5.1", Value: float64(rival.Bits()) / float64(example.Bits()), Is: lab.Above(lab.Number(2.5))},
		lab.Constant{Name: "hash functions: the whole number next to 13.5 ln 2", Printed: "9", Where: "Sec. 5.1", Value: math.Floor(theory.BloomHashes(13.5, 1))},
		lab.Constant{Name: "rate by the formula", Printed: "0.001529", Where: "Sec. 5.1", Value: rival.FPR(exampleKeys)},
		lab.Constant{Name: "odds that a counter overflows", Printed: "6.79e-17", Where: "Sec. 5.1", Value: one},
		lab.Constant{
			Kind: lab.Erratum, Name: "overflow of counters in a dlCBF, times that of a set of 663,552 counters", Printed: "roughly the same: 6.79e-17 and 5.62e-17, taken as less than ten times", Where: "Sec. 5.1",
			Value: five / (one * float64(rival.Counters)), Is: lab.Below(lab.Number(10)),
			Why: "6.79e-17 is for one of the counters, and 5.62e-17 has the power of |B||R| wrong, see dlcbf06/worked. Both are negligible, as the paper says",
		})
}()

// counted is what one trial found.
type counted struct {
	asked
	largest int // counter that was seen
}

func runCBF(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	steps, queries, every := e.Int("steps"), e.Int("queries"), e.Int("steps between looks")
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (c counted, err error) {
		s := rival
		s.Salt = r.Uint64()
		f, err := counting.Build(s)
		if err != nil {
			return c, err
		}
		_, err = churn(f, exampleKeys, steps, every, r, func() { c.largest = max(c.largest, largest(f.Words())) })
		c.ask(f, queries, r)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	rates := make([]asked, len(trials))
	for i, t := range trials {
		rates[i] = t.asked
	}
	reached := lab.Gather(trials, lab.Spec[counted]{
		Name: "counters", Title: fmt.Sprintf("Trials of %d steps in which some counter reached a value", steps), Dims: []lab.Dim{lab.Among("counter", "9", "10", "11", "12", "13", "14")},
		Metrics: []lab.Metric[counted]{{
			Name: "reached", Unit: lab.InPercent, At: func(c counted, at lab.At) float64 { return lab.OneIf(c.largest >= valueAt(at)) }, Asked: lab.Each(1),
		}},
		Formulas: []lab.Formula{
			{Name: "Poisson approximation", Unit: lab.InPercent, Of: func(at lab.At) float64 {
				return reaches(steps, valueAt(at), 1-missed(every, valueAt(at)))
			}},
			{Name: "expected in 10,000 trials of 2^20 steps", Of: func(at lab.At) float64 { return paperTrials * reaches(paperSteps, valueAt(at), 1) }},
		},
		Notes: []string{fmt.Sprintf("Counters are looked at every %d steps. One that reaches 12 stays there for n/12 = 4,096 steps on average, so that of a hundred %.0f are missed; the approximation allows for it.", every, 100*missed(every, 12))},
	})
	return &lab.Result{Grids: append(cbfRates.grids(rates, queries), cbfConstants.grid, reached)}, nil
}

// valueAt is the value of a counter at a point.
func valueAt(at lab.At) int { return 9 + at.Int("counter") }

// largest returns the largest counter of four bits, or 7 if that is below 8.
func largest(words []uint64) int {
	const top = 0x8888888888888888 // the upper bit of each
	most := uint64(7)
	for _, w := range words {
		if w&top == 0 || most >= 12 && w&(w<<1)&top == 0 {
			continue
		}
		for ; w != 0; w >>= 4 {
			most = max(most, w&15)
		}
	}
	return int(most)
}

// missed returns the odds that a counter comes to a value and goes from it between
// two looks: it stays until one of its keys is deleted.
func missed(every, value int) float64 {
	x := float64(every*value) / exampleKeys
	return 1 + math.Expm1(-x)/x
}

// reaches is the probability that a trial of so many steps takes some counter to a
// value, and that one of the given share of such events is seen. Events come in
// groups: a counter that has been there is likely to come back. The groups are
// independent.
func reaches(steps, value int, seen float64) float64 {
	k, load := float64(rival.Hashes), rival.Load(exampleKeys)
	return -math.Expm1(-seen * theory.CountingReached(k*float64(steps), load, value) * (1 - returns(load, value)))
}

// returns is the probability that a counter that was at a value and went down by one
// is at that value again before it is at 0. Keys come at the rate of the load, and
// each leaves at the rate 1: the gambler's ruin of a birth and death process.
func returns(load float64, value int) float64 {
	odds, below, all := 1.0, 0.0, 0.0
	for i := range value {
		below = all
		all += odds
		odds *= float64(i+1) / load
	}
	return below / all
}
