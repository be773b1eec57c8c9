package dlbf10

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var r4 = lab.Experiment{
	ID:       "dlbf10/r4",
	Paper:    paper,
	Title:    "Requirement R4, and the filters of Sec. II, at equal memory",
	Question: "What does it cost in false positives that keys can be deleted, if the number of bits is given?",
	Says: "Sec. I: R4 is a rate comparable to a standard filter of the same size. " +
		"Sec. II: counters of 3 or 4 bits cut the bit space c-fold; a d-left filter needs about half the bits of a 4-bit counting one and around 2m for the rate of a standard filter; " +
		"variable-length signatures lose keys; no variation satisfies all four. Sec. III-B: \"the false positive degradation is driven by the ratio m/r\".",
	Quick: lab.Params{lab.Int("keys", 2_000), lab.Int("trials", 40)},
	Full:  lab.Params{lab.Int("keys", 10_000), lab.Int("trials", 200)},
	Run:   runR4,
	Claims: []lab.Claim{
		{Name: "R2: variable-length signatures", Printed: "prone to false negatives", Where: "Sec. II", Of: lab.Of("keys lost by signatures"), Is: lab.Above(lab.Number(0))},
		{
			Name: "R4: the price of the bitmap", Printed: "comparable to a standard filter for 5 % of the bits, taken as less than twice its rate", Where: "Sec. III-B", Of: toStandard("deletable, m/r = 20"), Is: lab.Below(lab.Number(2)),
			Show: []lab.Pick{toStandard("deletable, m/r = 10"), toStandard("deletable, m/r = 4"), toStandard("deletable, m/r = 2")},
		},
		{Name: "R4: counting", Printed: "no other variation satisfies all four: not comparable, taken as at least twice the rate", Where: "Sec. II", Of: toStandard("counting, 4 bits"), Is: lab.AtLeast(lab.Number(2))},
		{Name: "R4: d-left", Printed: "no other variation satisfies all four: not comparable, taken as at least twice the rate", Where: "Sec. II", Of: toStandard("d-left"), Is: lab.AtLeast(lab.Number(2))},
		{Name: "d-left to a 4-bit counting filter, at 1 %", Printed: "0.5 of the bits: \"about half\"", Where: "Sec. II", Of: lab.Of("d-left to counting"), Is: lab.Around()},
		{Name: "d-left to a standard filter, at 1 %", Printed: "2 m: \"around 2m for construction\"", Where: "Sec. II", Of: lab.Of("d-left to standard"), Is: lab.Around()},
		{Name: "counters of 3 bits, by the formulas", Of: lab.Of("rate with 3-bit counters"), Is: lab.Shows(), Show: []lab.Pick{lab.Of("overflow of 3 bits"), lab.Of("overflow of 4 bits")}},
	},
}

// toStandard is the ratio of rates.
func toStandard(contender string) lab.Pick {
	return lab.Of("rate", "filter", contender).Over(lab.Of("rate", "filter", "standard"))
}

func runR4(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n := e.Int("keys")
	rates, err := ratesAt16(n)
	if err != nil {
		return nil, err
	}
	signatures, err := lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "signatures", Title: "Variable-length signatures, known by one sentence of the letter only: half of the keys deleted", Trials: e.Int("trials"),
		Trial: func(_ lab.At, r *rand.Rand) (float64, error) {
			return throw(r, 16*n, 5, n, false).lostBySignatures(), nil
		},
		Metrics: []lab.Metric[float64]{{Name: "keys lost by signatures", Unit: lab.InPercent, Of: func(lost float64) float64 { return lost }}},
	})
	return &lab.Result{Grids: []*lab.Grid{rates, signatures, sizesOfOthers()}}, err
}

// ratesAt16 are those of n keys in 16 bits each, with k = 5 where it is free.
func ratesAt16(n int) (*lab.Grid, error) {
	m, keys := uint64(16*n), uint64(n)
	names, rates := []string{"standard"}, []float64{bloom.Shape{Bits: m, Hashes: 5}.FPR(keys)}
	for _, ratio := range []int{20, 10, 4, 2} {
		names, rates = append(names, fmt.Sprintf("deletable, m/r = %d", ratio)), append(rates, sized(n, 5, 16, ratio).FPR(keys))
	}
	// Four counters to a key have the lowest rate with three hashes. A d-left filter with load 6
	// in buckets of 8 cells, as in [dlCBF06], has 4/3 of a cell to a key.
	counters := counting.Shape{Counters: m / 4, Hashes: 3, CounterBits: 4}
	d, err := dleft.Config{Items: keys, Subtables: 4, Cells: 8, Load: 6, Remainder: 10}.Shape()
	names, rates = append(names, "counting, 4 bits", "d-left"), append(rates, counters.FPR(keys), d.FPR(keys))
	return lab.Computed("rates", "Filters of 16 bits per key, by their formulas", []lab.Dim{lab.Among("filter", names...)},
		lab.Formula{Name: "rate", Unit: lab.InPercent, Of: func(at lab.At) float64 { return rates[at.Int("filter")] }}), err
}

// sizesOfOthers computes what Sec. II says of other filters. It has no rate; 1 % is
// that of the example with m = 240 and n = 22. No package has counters of 3 bits.
func sizesOfOthers() *lab.Grid {
	const rate = 0.01
	standard := theory.BloomBits(1, rate)
	return lab.Computed("others", "Sec. II by the formulas", nil,
		lab.Fixed("d-left to counting", lab.Plain, theory.DLeftBitsPerKey(rate)/(4*standard)),
		lab.Fixed("d-left to standard", lab.Plain, theory.DLeftBitsPerKey(rate)/standard),
		lab.Fixed("rate with 3-bit counters", lab.InPercent, theory.BloomFPR(16_000, 4, 3_000)),
		lab.Fixed("overflow of 3 bits", lab.Plain, theory.CountingOverflow(math.Ln2, 3)),
		lab.Fixed("overflow of 4 bits", lab.Plain, theory.CountingOverflow(math.Ln2, 4)))
}
