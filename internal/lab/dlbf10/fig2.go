package dlbf10

import (
	"context"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var fig2 = lab.Experiment{
	ID:       "dlbf10/fig2",
	Title:    "Deletability over the filter's density, its price, and other filters",
	Question: "Which share of the keys can be deleted, by Eq. (1) and in truth, for each density m/n and bitmap size m/r, and what does that cost in false positives, here and in other filters of as many bits?",
	Says: "Fig. 2 plots p_d of Eq. (1) over m/n for different m/r, k not stated: it rises with r and falls as keys are added. " +
		"Sec. III-A: with m/r = 20 around 90 % of the elements can be removed when m/n is around 16. Sec. III-B: \"the false positive degradation is driven by the ratio m/r\". " +
		"Sec. II: counters cut the bit space c-fold; a d-left filter needs about half the bits of a 4-bit counting one and around 2m for the rate of a standard filter; variable-length signatures lose keys; no variation satisfies R1 to R4.",
	Params: lab.Params{lab.Int("keys", 1_000), lab.Int("hashes", 5), lab.Ints("bits per region, m/r", 2, 5, 10, 20, 40), lab.Ints("densities, m/n", 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32), lab.Int("trials", 60).Full(paperTrials)},
	Run:    runFig2,
	Plots: []lab.View{
		densityPlot("eq1", "Eq. (1), corrected, k = 5", lab.Curve{Formula: "Eq. (1)"}),
		densityPlot("truth", "What can be deleted, k = 5; lines: the formula with the missing condition", lab.Curve{Measured: "deletable", Formula: "conditioned"}),
	},
	Claims: append([]lab.Claim{
		{Name: "more regions, by Eq. (1)", Printed: "increasing r results in a larger portion of deletable elements", Where: "Sec. III-A", Of: lab.Of("Eq. (1)"), Is: lab.Falls("m/r")},
		{
			Name: "more regions, measured", Printed: "increasing r results in a larger portion of deletable elements", Where: "Sec. III-A", Of: lab.Of("deletable"), Is: lab.Falls("m/r"),
			Why: "true down to m/r = 5; a bitmap of half the bits, m/r = 2, leaves so few cells that more keys collide than smaller regions save, from 12 bits per key on",
		},
		{Name: "more keys, by Eq. (1)", Printed: "as more elements are inserted the deletion capabilities are reduced", Where: "Sec. III-A", Of: lab.Of("Eq. (1)"), Is: lab.Rises("m/n")},
		{Name: "more keys, measured", Printed: "as more elements are inserted the deletion capabilities are reduced", Where: "Sec. III-A", Of: lab.Of("deletable"), Is: lab.Rises("m/n")},
		{
			Kind: lab.Erratum, Name: "Eq. (1) as printed", Printed: "p_d = (1 - (1 - p_c)^(m'/r))^k is the probability of being deletable", Where: "Eq. (1)",
			Of: lab.Of("Eq. (1) as printed", "m/r", 2, "m/n", 32), Is: lab.AtLeast(lab.Number(0.5)),
			Why: "nearly all elements can be deleted there; the printed form is the probability that none of the k regions is clean, and 1 minus it is meant, and plotted in Fig. 2",
		},
		{Name: "Eq. (1) for the example, k = 5", Printed: "90 %: \"around\" at m/r = 20 and m/n = 16", Where: "Sec. III-A", Of: lab.Of("Eq. (1)", "m/r", 20, "m/n", 16), Is: lab.Around()},
		{Name: "measured for the example, k = 5", Printed: "90 %: \"around\" at m/r = 20 and m/n = 16", Where: "Sec. III-A", Of: lab.Of("deletable", "m/r", 20, "m/n", 16), Is: lab.Around()},
		{Kind: lab.Own, Name: "the formula with the missing condition", Printed: "1 - (1 - p)^k with p = (1 - 1/m')^(kn-1) (1 - p_c)^(m'/r-1) is what is measured", Of: lab.Of("deletable"), Is: lab.Matches(lab.Of("conditioned"))},
		{
			Name: "R4: the price of the bitmap", Printed: "comparable to a standard filter for 5 % of the bits, taken as less than twice its rate", Where: "Sec. III-B", Of: lab.Of("rate to a standard filter's", "m/r", 20, "m/n", 16), Is: lab.Below(lab.Number(lab.Comparable)),
			Show: []lab.Pick{lab.Of("rate to a standard filter's", "m/n", 16)},
		},
		{Name: "R2: variable-length signatures", Printed: "prone to false negatives", Where: "Sec. II", Of: lab.Of("keys lost by signatures"), Is: lab.Above(lab.Number(0))},
	}, otherClaims...),
}

// others are computed: filters of Sec. II for 1,000 keys in 16 bits each, or at 1 %, the
// rate of the example with m = 240 and n = 22; and what the two places that say 90 % give
// in other readings, as k is not stated in one, and a region may have m/r or m'/r cells.
var others, otherClaims = lab.Constants("others", "Other filters, and other readings of Eq. (1)",
	lab.Constant{Name: "R4: rate of counting, 4 bits, to a standard filter's", Printed: notComparable, Where: "Sec. II", Value: counting.Shape{Counters: 4_000, Hashes: 3, CounterBits: 4}.FPR(1_000) / standardRate, Is: lab.AtLeast(lab.Number(lab.Comparable))},
	lab.Constant{Name: "R4: rate of d-left to a standard filter's", Printed: notComparable, Where: "Sec. II", Value: dleftRate() / standardRate, Is: lab.AtLeast(lab.Number(lab.Comparable))},
	lab.Constant{Name: "d-left to a 4-bit counting filter, at 1 %", Printed: "0.5 of the bits: \"about half\"", Where: "Sec. II", Value: theory.DLeftBitsPerKey(0.01) / (4 * theory.BloomBits(1, 0.01)), Is: lab.Around()},
	lab.Constant{Name: "d-left to a standard filter, at 1 %", Printed: "2 m: \"around 2m for construction\"", Where: "Sec. II", Value: theory.DLeftBitsPerKey(0.01) / theory.BloomBits(1, 0.01), Is: lab.Around()},
	lab.Constant{Name: "rate of counting, 3 bits, to a standard filter's", Value: theory.BloomFPR(16_000, 4, 3_000) / standardRate},
	lab.Constant{Name: "Eq. (1) for m/r = 20, m/n = 16 and k = 6", Value: theory.DeletableEq1(15_200, 6, 1_000, 19)},
	lab.Constant{Name: "Eq. (1) for r = 24, n = 22 and m/r cells", Value: theory.DeletableEq1(216, 5, 22, 10)},
)

const notComparable = "no other variation satisfies all four: not comparable, taken as at least twice the rate"

var standardRate = theory.BloomFPR(16_000, 5, 1_000)

// dleftRate is that of 16 bits per key with a load of 6 in buckets of 8 cells, as in
// [dlCBF06]: a key has 4/3 of a cell. It is 0 if the shape is refused.
func dleftRate() float64 {
	d, err := dleft.Config{Items: 1_000, Subtables: 4, Cells: 8, Load: 6, Remainder: 10}.Shape()
	if err != nil {
		return 0
	}
	return d.FPR(1_000)
}

func densityPlot(name, title string, c lab.Curve) lab.View {
	return lab.View{Name: name, Title: title, X: "m/n", By: "m/r", XAxis: lab.Axis{Label: "bits per key, m/n"}, Y: deletableAxis, Curves: []lab.Curve{c}, Marks: []lab.Mark{{X: 16, Y: 0.9, Text: "around 90 %, m/r = 20"}}}
}

func runFig2(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n := e.Int("keys")
	of := func(at lab.At) (deletable.Shape, float64) {
		ratio := at.Int("m/r")
		regions := uint64(float64(n)*at.Float("m/n")/float64(ratio) + 0.5) // whole ones in smooth curves, too
		return deletable.Shape{Bits: regions * uint64(ratio), Hashes: e.Int("hashes"), Regions: regions}, float64(n)
	}
	formulas := shareFormulas(of)
	printed := lab.Formula{Name: "Eq. (1) as printed", Unit: lab.InPercent, Of: func(at lab.At) float64 { return 1 - formulas[0].Of(at) }}
	// The keys of one region can be deleted, or not, together.
	regions := func(at lab.At) int { return min(n, n*at.Int("m/n")/at.Int("m/r")) }
	price := lab.Formula{Name: "rate to a standard filter's", Of: func(at lab.At) float64 {
		s, keys := of(at)
		return s.FPR(uint64(n)) / theory.BloomFPR(float64(s.Bits), float64(s.Hashes), keys)
	}}
	return lab.Find(ctx, e, lab.Sweep{
		Name: "deletability", Title: "Share of the keys that can be deleted",
		Dims:   []lab.Dim{lab.Along("m/r", e.Ints("bits per region, m/r")...), lab.Along("m/n", e.Ints("densities, m/n")...)},
		Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			s, _ := of(at)
			return try(s, lab.RandomKeys(r, n), nil)
		},
		Metrics:  []lab.Metric{{Name: "deletable", Unit: lab.InPercent, Asked: regions}},
		Formulas: append(formulas, printed, price),
	}, lab.Sweep{
		Name: "signatures", Title: "Variable-length signatures, known by one sentence of the letter only: half of the keys deleted, 16 bits per key", Trials: e.Int("trials"),
		Trial: func(_ lab.At, r *rand.Rand) (lab.Figures, error) {
			return lab.Figures{"keys lost by signatures": throw(r, 16*n, e.Int("hashes"), n, false).lostBySignatures()}, nil
		},
		Metrics: []lab.Metric{{Name: "keys lost by signatures", Unit: lab.InPercent}},
	}, others, lab.Notes{"Eq. (1) is printed without the leading 1 -; what is plotted can only be the complement, which this takes."})
}
