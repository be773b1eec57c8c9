package dlcbf06

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var worked = lab.Experiment{
	ID:       "dlcbf06/worked",
	Title:    "The worked figures of Sections 1, 2, 4 and 5",
	Question: "Do the paper's computed figures come out of its formulas, and out of real filters, and what does the d-left filter save?",
	Says: "Sec. 2.1: 10 bits and 7 hashes give just over 0.008. Sec. 4: 9 counters and 6 hashes 0.01327 in 36 bits, 11-bit remainders 0.01172 in 52/3; " +
		"at equal size the CBF's rate is higher for all r ≥ 7, by a factor of over 100 at r = 14; the factor 4/3 could be reduced arbitrarily close to 1. " +
		"Sec. 5.1: 24·2^-14 ≈ 0.001465, exactly 2^20 bits, five equal hash values with probability 5.62e-17.",
	Params: lab.Params{lab.Int("keys", 6_000).Full(12_000), lab.Int("trials", 60).Full(2_000), lab.Int("queries", 20_000).Full(100_000), lab.Ints("cells", 4, 8, 16).Full(4, 6, 8, 12, 16, 24, 32)},
	Run:    runWorked,
	Plots: []lab.View{
		{
			Name: "bits", Title: "Bits per key of a counting filter and of the d-left one", X: "rate", XAxis: lab.Axis{Label: "rate of false positives", Log: true, Percent: true}, Y: lab.Axis{Label: "bits per key"},
			Curves: []lab.Curve{{Name: "counting filter", Formula: "counting, bits"}, {Name: "d-left, any r", Formula: "d-left, bits"}},
			Marks:  []lab.Mark{{X: 0.01327, Y: 36, Text: "worked sizes of Sec. 4 and 5.1"}, {X: 0.01172, Y: 52.0 / 3}, {X: 0.001529, Y: 54}, {X: 0.001465, Y: 64.0 / 3}},
			Notes:  []string{"Counting: counters of four bits and the best number of hashes."},
		},
		{
			Name: "ratio", Title: "Rate of a counting filter over that of a d-left one of the same size", X: "r", XAxis: lab.Axis{Label: "bits of a remainder, r"}, Y: lab.Axis{Label: "ratio of the rates", Log: true},
			Curves: []lab.Curve{{Name: "by the formulas of Sec. 4", Formula: "counting to d-left"}}, Marks: []lab.Mark{{X: 14, Y: 100, Text: "over 100"}},
		},
	},
	Claims: append(workedClaims,
		lab.Claim{Name: "the CBF's rate is higher at equal size", Printed: "for all integers r ≥ 7", Where: "Sec. 4", Of: lab.Of("counting to d-left"), Is: lab.In(lab.Span{Dim: "r", From: 7}, lab.Above(lab.Number(1))), Show: []lab.Pick{lab.Of("counting to d-left", "r", 6)}},
		lab.Claim{Name: "the more space, the larger the ratio", Printed: "for all r", Where: "Sec. 4", Of: lab.Of("counting to d-left"), Is: lab.Rises("r")},
		lab.Claim{
			Kind: lab.Erratum, Name: "ratio at r = 14, c = 16/3", Printed: "over a factor of 100", Where: "Sec. 4", Of: lab.Of("counting to d-left", "r", 14), Is: lab.Above(lab.Number(100)),
			Why: "the paper's own formulas, (2^(-ln 2))^(16/3) and 24·2^-14, give 52.6; 100 is passed at r = 16",
		},
		lab.Claim{Name: "savings at 1 % and below", Printed: "generally a factor of two or more", Where: "Abstract, Sec. 1", Of: lab.Of("factor"), Is: lab.In(lab.Span{Dim: "rate", To: 0.01}, lab.AtLeast(lab.Number(2))), Show: []lab.Pick{lab.Of("factor", "rate", 0.1)}},
		lab.Claim{Name: "larger buckets, filled more tightly", Printed: "the factor 4/3 could be reduced arbitrarily close to 1", Where: "Sec. 4", Of: lab.Of("cells per key"), Is: lab.Falls("cells"), Show: []lab.Pick{lab.Of("cells per key")}},
		lab.Claim{Name: "rate of 9 counters, 6 hashes, measured", Printed: "0.01327", Where: "Sec. 4", Of: lab.Of("measured", "filter", "counting"), Is: lab.Agrees(0)},
		lab.Claim{Name: "rates measured", Printed: "1 - (1 - 1/|B||R|)^m, with the sentinel", Where: "Sec. 3.2", Of: lab.Of("measured"), Is: lab.Matches(lab.Of("by formula"))},
		lab.Claim{Name: "24·2^-r is an upper bound", Printed: "0.01172 at r = 11", Where: "Sec. 4", Of: lab.Of("measured", "filter", "d-left"), Is: lab.AtMost(lab.Number(theory.DLeftRateBound(4, 6, 11)))},
	),
}

// The computed numbers of Sec. 1 to 5.1.
var workedGrid, workedClaims = func() (lab.Part, []lab.Claim) {
	five := theory.DLeftEqualFingerprints(exampleKeys, fingerprints, 5)
	eleven := dleft.Shape{Subtables: 4, Buckets: 1_000, Cells: 8, Remainder: 11, Counter: 2}
	bits := float64(eleven.Bits()) / 24_000
	cells := 8
	for ; exampleBuckets*above(6, cells) > 1e-9; cells++ { // until a set overflows as rarely
	}
	below, over := func(v float64) lab.Test { return lab.Below(lab.Number(v)) }, func(v float64) lab.Test { return lab.Above(lab.Number(v)) }
	return lab.Constants("computed", "By the formulas",
		lab.Constant{Name: "bits per element for 1 %", Printed: "less than 10", Where: "Sec. 1", Value: theory.BloomBits(1, 0.01), Is: below(10)},
		lab.Constant{Name: "base of the rate over bits per element", Printed: "0.6185", Where: "Sec. 2.1", Value: theory.CountingOptimalFPR(1)},
		lab.Constant{Name: "rate at 10 bits and 7 hashes", Printed: "0.008 (\"just over\")", Where: "Sec. 2.1", Value: theory.BloomFPR(10_000, 7, 1_000), Is: lab.JustOver()},
		lab.Constant{Name: "odds that one of 663,552 counters of four bits overflows", Printed: "suffice for most applications: taken as one in a million", Where: "Sec. 2.1", Value: theory.CountingOverflowBound(float64(rival.Counters), math.Ln2, 4), Is: below(1e-6)},
		lab.Constant{Name: "counters that are zero, 13.5 per element and 9 hashes", Printed: "most entries are zero", Where: "Sec. 2.2", Value: math.Exp(-rival.Load(exampleKeys)), Is: over(0.5)},
		lab.Constant{Name: "cells of a bucket with one hash function, for odds of 1e-9", Printed: "a lot of wasted space: taken as more than twice the 8 cells of d-left", Where: "Sec. 3.2", Value: float64(cells), Is: over(16)},
		lab.Constant{Name: "bound 24·2^-r at r = 5", Printed: "r ≥ 5: below 1", Where: "Sec. 4", Value: theory.DLeftRateBound(4, 6, 5), Is: below(1)},
		lab.Constant{Name: "rate of 9 counters, 6 hashes", Printed: "0.01327", Where: "Sec. 4", Value: theory.BloomFPR(9e6, 6, 1e6)},
		lab.Constant{Name: "24·2^-11", Printed: "0.01172", Where: "Sec. 4", Value: theory.DLeftRateBound(4, 6, 11)},
		lab.Constant{Name: "bits per element for r = 11", Printed: "17.3333 (52/3)", Where: "Sec. 4", Value: bits},
		lab.Constant{Name: "the same by (4 log2(1/f) + 20 + 4 log2 3)/3", Printed: "17.3333 (52/3)", Where: "Sec. 4", Value: theory.DLeftBitsPerKey(theory.DLeftRateBound(4, 6, 11))},
		lab.Constant{Name: "size beside that CBF", Printed: "less than 1/2", Where: "Sec. 4", Value: bits / 36, Is: below(0.5)},
		lab.Constant{Name: "24·2^-14", Printed: "0.001465", Where: "Sec. 5.1", Value: theory.DLeftRateBound(4, 6, 14)},
		lab.Constant{Name: "size in bits", Printed: "1048576", Where: "Sec. 5.1", Value: float64(example.Bits())},
		lab.Constant{Name: "C(m,5)·(1/|B||R|)^5", Printed: "5.62e-17", Where: "Sec. 5.1", Value: five / fingerprints},
		lab.Constant{
			Kind: lab.Erratum, Name: "odds that five elements share a hash value", Printed: "5.62e-17", Where: "Sec. 5.1", Value: five,
			Why: "four of the five must equal the first: the power is the fourth, C(m,5)·(1/|B||R|)^4 = 1.89e-9. That counters can be ignored still holds",
		})
}()

// above is the probability that a bucket has more keys than cells, if keys fall into
// buckets with one hash function.
func above(load float64, cells int) (p float64) {
	for i, prob := range theory.Poisson(load) {
		if i > cells {
			p += prob
		}
	}
	return p
}

func runWorked(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	return lab.Find(ctx, e, workedGrid, equalSize(), equalRate(), tighter(e.Ints("cells")), measureWorked(e))
}

// equalSize compares the rates of both filters in as many bits.
func equalSize() lab.Part {
	return lab.Computed("", "", []lab.Dim{lab.Count("r", 5, 30)}, lab.Formula{Name: "counting to d-left", Of: func(at lab.At) float64 {
		return theory.CountingOptimalFPR((at.Float("r")+2)/3) / (24 * math.Exp2(-at.Float("r")))
	}})
}

// equalRate compares their sizes. The best number of hashes need not be whole.
func equalRate() lab.Part {
	counting := func(at lab.At) float64 {
		return 4 * math.Log(at.Float("rate")) / math.Log(theory.CountingOptimalFPR(1))
	}
	whole := func(at lab.At) float64 { // the printed rates are rounded
		return 4 * (math.Ceil(math.Log2(24/at.Float("rate"))-1e-3) + 2) / 3
	}
	return lab.Computed("savings", "What the d-left filter saves at equal rate", []lab.Dim{lab.Along("rate", 1e-5, 1e-4, 0.001, 0.001465, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)},
		lab.Formula{Name: "counting, bits", Of: counting}, lab.Formula{Name: "d-left, bits", Of: func(at lab.At) float64 { return theory.DLeftBitsPerKey(at.Float("rate")) }},
		lab.Formula{Name: "d-left, bits with whole r", Of: whole}, lab.Formula{Name: "factor", Of: func(at lab.At) float64 { return counting(at) / whole(at) }})
}

// tighter finds how full larger buckets may be.
func tighter(cells []int) lab.Part {
	loads := map[int]float64{}
	for _, c := range cells {
		loads[c] = largestLoad(c, 1e-9)
	}
	return lab.Computed("tighter", "Largest load at which 2^20 steps overflow with odds of 1e-9, 49,152 keys, four subarrays", []lab.Dim{lab.Along("cells", cells...)},
		lab.Formula{Name: "largest load", Of: func(at lab.At) float64 { return loads[at.Int("cells")] }},
		lab.Formula{Name: "cells per key", Of: func(at lab.At) float64 { return at.Float("cells") / loads[at.Int("cells")] }})
}

// largestLoad searches to a thousandth of a bucket.
func largestLoad(cells int, odds float64) float64 {
	low, high := 0.25*float64(cells), float64(cells)
	for high-low > 0.001*float64(cells) {
		load := (low + high) / 2
		if theory.DLeftSteadyOverflow(4, cells, exampleKeys/4/load, exampleKeys, paperSteps) <= odds {
			low = load
		} else {
			high = load
		}
	}
	return low
}

// measureWorked fills real filters with the parameters of Sec. 4.
func measureWorked(e *lab.Env) lab.Part {
	n, queries := uint64(e.Int("keys")), e.Int("queries")
	nine := counting.Shape{Counters: 9 * n, Hashes: 6, CounterBits: 4}
	eleven := dleft.Shape{Subtables: 4, Buckets: n / 24, Cells: 8, Remainder: 11, Counter: 2}
	build := func(name string, salt uint64) (filter.Filter, error) {
		nine, eleven := nine, eleven
		nine.Salt, eleven.Salt = salt, salt
		if name == "counting" {
			return counting.Build(nine)
		}
		return dleft.Build(eleven)
	}
	return lab.Sweep{
		Name: "filters", Title: "Rates of real filters with the parameters of Sec. 4", Dims: []lab.Dim{lab.Among("filter", "counting", "d-left")}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			f, err := build(at.Name("filter"), r.Uint64())
			if err = lab.AddAll(f, err, lab.RandomKeys(r, int(n))); err != nil {
				return nil, err
			}
			return lab.Figures{"measured": lab.YesShare(f, lab.RandomKeys(r, queries))}, nil
		},
		Metrics:  []lab.Metric{{Name: "measured", Asked: lab.Each(queries)}},
		Formulas: []lab.Formula{{Name: "by formula", Of: func(at lab.At) float64 { return []float64{nine.FPR(n), eleven.FPR(n)}[at.Int("filter")] }}},
	}
}
