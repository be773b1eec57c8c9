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
	Title:    "The counting filter of the same rate",
	Question: "How large is a counting filter with the rate of the d-left one, is its rate as printed, and how high do its counters go?",
	Says: "Sec. 5.1: 13.5 counters per element with 9 hash functions, 663552 counters for 49152 elements, 2654208 bits, over 2.5 times the size of the dlCBF. " +
		"10,000 trials as before: the largest counter was 13, in one trial, 12 was reached in 16; rates from 0.00108 to 0.00205, 0.001529 on average. " +
		"A counter overflows with probability 6.79e-17, roughly the same as for the dlCBF.",
	Params: lab.Params{lab.Int("trials", 20).Full(paperTrials), lab.Int("steps", 1<<17).Full(paperSteps), lab.Int("queries", paperQueries), lab.Int("steps between looks", 1_024)},
	Run:    runCBF,
	Claims: append(append(cbfClaims, cbfRates.claims()...),
		lab.Claim{Name: "trials that reached 12 or more", Printed: "0.17 %: 16 and 1 of 10,000 trials", Where: "Sec. 5.1", Of: lab.Of("reached", "counter", 12), Is: lab.Agrees(paperTrials), FullOnly: true},
		lab.Claim{Name: "trials that reached 13", Printed: "0.01 %: 1 of 10,000 trials", Where: "Sec. 5.1", Of: lab.Of("reached", "counter", 13), Is: lab.Agrees(paperTrials), FullOnly: true},
		lab.Claim{Name: "no counter reached 14", Printed: "0 of 10,000 trials", Where: "Sec. 5.1", Of: lab.Of("reached", "counter", 14), Is: lab.Zero()},
	),
}

// rival is the counting filter of Sec. 5.1.
var rival = counting.Shape{Counters: 663_552, Hashes: 9, CounterBits: 4}

// cbfRates is what Sec. 5.1 prints about its false positives.
var cbfRates = printedRates{average: "0.001529", least: 0.00108, most: 0.00205, formula: rival.FPR(exampleKeys)}

// The numbers that need no trial.
var cbfGrid, cbfClaims = func() (lab.Part, []lab.Claim) {
	one, five := theory.CountingOverflow(math.Ln2, 4), theory.DLeftEqualFingerprints(exampleKeys, fingerprints, 5)
	return lab.Constants("computed", "Sec. 5.1 by the formulas",
		lab.Constant{Name: "bits", Printed: "2654208", Where: "Sec. 5.1", Value: float64(rival.Bits())},
		lab.Constant{Name: "size, times that of the dlCBF", Printed: "over 2.5", Where: "Sec. 5.1", Value: float64(rival.Bits()) / float64(example.Bits()), Is: lab.Above(lab.Number(2.5))},
		lab.Constant{Name: "hash functions: the whole number next to 13.5 ln 2", Printed: "9", Where: "Sec. 5.1", Value: math.Floor(theory.BloomHashes(13.5, 1))},
		lab.Constant{Name: "rate by the formula", Printed: "0.001529", Where: "Sec. 5.1", Value: rival.FPR(exampleKeys)},
		lab.Constant{Name: "odds that a counter overflows", Printed: "6.79e-17", Where: "Sec. 5.1", Value: one},
		lab.Constant{
			Kind: lab.Erratum, Name: "overflow of counters in a dlCBF, times that of a set of 663,552 counters", Printed: "roughly the same: 6.79e-17 and 5.62e-17, taken as less than twice", Where: "Sec. 5.1",
			Value: five / (one * float64(rival.Counters)), Is: lab.Below(lab.Number(lab.Comparable)),
			Why: "6.79e-17 is for one of the counters, and 5.62e-17 has the power of |B||R| wrong, see dlcbf06/worked. Both are negligible, as the paper says",
		})
}()

func runCBF(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	steps, queries, every := e.Int("steps"), e.Int("queries"), e.Int("steps between looks")
	trials, err := lab.Trials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (lab.Figures, error) {
		s, l := rival, lab.Figures{}
		s.Salt = r.Uint64()
		f, err := counting.Build(s)
		if err != nil {
			return l, err
		}
		_, err = churn(f, exampleKeys, steps, every, r, func() { l["largest"] = max(l["largest"], float64(largest(f.Words()))) })
		cbfRates.ask(l, f, queries, r)
		return l, err
	})
	if err != nil {
		return nil, err
	}
	reached := lab.Gather(trials, lab.Sweep{
		Name: "counters", Title: fmt.Sprintf("Trials of %d steps in which some counter reached a value", steps), Dims: []lab.Dim{lab.Along("counter", 9, 10, 11, 12, 13, 14)},
		Metrics: []lab.Metric{{
			Name: "reached", Unit: lab.InPercent, At: func(l lab.Figures, at lab.At) float64 { return lab.OneIf(l["largest"] >= at.Float("counter")) }, Asked: lab.Each(1),
		}},
		Formulas: []lab.Formula{{Name: "raised to it in 10,000 trials of 2^20 steps", Of: func(at lab.At) float64 {
			return paperTrials * theory.CountingReached(float64(rival.Hashes)*paperSteps, rival.Load(exampleKeys), at.Int("counter"))
		}}},
		Notes: []string{fmt.Sprintf("Counters are looked at every %d steps. One that reaches 12 stays there for n/12 = 4,096 steps on average, so that about one in ten is missed.", every)},
	})
	return lab.Find(ctx, e, cbfRates.grid(trials, queries), cbfGrid, reached)
}

// largest returns the largest counter of four bits, or 7 if that is below 8.
func largest(words []uint64) int {
	const top, stride = 0x8888888888888888, 8 // the upper bit of each; words that are looked at together
	most := uint64(7)
	for ; len(words) > 0; words = words[min(stride, len(words)):] {
		some := words[:min(stride, len(words))]
		if len(some) == stride && (some[0]|some[1]|some[2]|some[3]|some[4]|some[5]|some[6]|some[7])&top == 0 {
			continue
		}
		for _, w := range some {
			for ; w != 0; w >>= 4 {
				most = max(most, w&15)
			}
		}
	}
	return int(most)
}
