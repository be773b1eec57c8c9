package ebf21

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var formulas = lab.Experiment{
	ID:       "ebf21/formulas",
	Paper:    paper,
	Title:    "Sec. 4: sizes, rates and bucket sizes by formula",
	Question: "Do the formulas of Sec. 4 give filters of the rate that was asked for, and buckets that do not overflow?",
	Says: "Sec. 4.1: m = log2(e) n log2(1/δ), k* = ln(2) m/n. Sec. 4.3: k = -log2(1/δ), or e.g. 4, and m = kn/ln(1 - δ^(1/k)), Ω = δ^(1/k), w = 32 for up to 512MB, and D = (enk/m) ln((ε/m)^-0.5) / " +
		"ln ln((ε/m)^-0.5) with ε = 1/m, so that by Theorem 4.1 no bucket overflows but for probability ε.",
	Quick: lab.Params{lab.Int("keys", 2_000), lab.Float("rate", 0.01), lab.Int("trials", 50), lab.Int("queries", 10_000)},
	Full:  lab.Params{lab.Int("keys", 20_000), lab.Float("rate", 0.01), lab.Int("trials", 1_000), lab.Int("queries", 100_000)},
	Run:   runFormulas,
	Plots: []lab.View{{
		Name: "slots", Title: "Slots for no overflow with probability 1 - 1/m, m = 2^15", X: "Ω", XAxis: lab.Axis{Label: "set-bit rate Ω", Percent: true}, Y: lab.Axis{Label: "slots D"},
		Curves: []lab.Curve{{Formula: "formula of Sec. 4.3", Style: lab.Dashed}, {Formula: "needed without trees"}, {Formula: "needed with 3 branches"}}, Marks: []lab.Mark{{X: tableThreshold, Y: tableSlots, Text: "Table 1"}},
	}},
	Claims: []lab.Claim{
		{Name: "w = 32: largest filter in MB", Printed: "512", Where: "Sec. 4.3", Of: lab.Of("2^w bits in MB"), Is: lab.Rounds()},
		{Kind: lab.Erratum, Name: "k of Sec. 4.3", Printed: "k = -log2(1/δ) is a number of hashes", Where: "Sec. 4.3", Of: lab.Of("k as printed"), Is: lab.AtLeast(lab.Number(1)), Why: wrongSign},
		{Kind: lab.Erratum, Name: "m of Sec. 4.3", Printed: "m = kn/ln(1 - δ^(1/k)) is a number of bits", Where: "Sec. 4.3", Of: lab.Of("m as printed"), Is: lab.AtLeast(lab.Number(1)), Why: wrongSign},
		{Name: "k* of Sec. 4.1 is the mended k of Sec. 4.3", Printed: "k* = ln(2) m/n, m = log2(e) n log2(1/δ)", Where: "Sec. 4.1", Of: lab.Of("k* of Sec. 4.1"), Is: lab.Matches(lab.Of("k mended"))},
		{Name: "rates of filters of these sizes", Printed: "[1 - (1 - 1/m)^(kn)]^k", Where: "Sec. 4.1", Of: lab.Of("rate"), Is: lab.Matches(lab.Of("Sec. 4.1"))},
		{Name: "Lemma 4.1", Printed: "(a/M)^M <= b for a > 4, b in (0, 1/9)", Where: "Sec. 4.2", Of: lab.Of("lemma holds"), Is: lab.AtLeast(lab.Number(1))},
		{Kind: lab.Erratum, Name: "Lemma 4.1 where Theorem 4.1 uses it, at Table 1", Printed: "a = enk/m is above 4", Where: "Theorem 4.1", Of: lab.Of("a = enk/m"), Is: lab.Above(lab.Number(4)), Why: "at the threshold enk/m is -e ln(1 - Ω), which is above 4 only for Ω above 0.77"},
		{Name: "Eq. (3), left side", Printed: "at most ε for M that is large enough: a bound of the odds", Where: "Eq. (3)", Of: lab.Of("left side over exact odds"), Is: lab.AtLeast(lab.Number(1))},
		{Kind: lab.Erratum, Name: "Eq. (2) and (3), right side", Printed: "m (enk/M)^M bounds a probability", Where: "Eq. (3)", Of: lab.Of("right side as printed"), Is: lab.AtMost(lab.Number(1)), Why: "an m is missing: it is (enk/(mM))^M"},
		{Kind: lab.Erratum, Name: "D of Sec. 4.3 at Table 1's k, m and Ω", Printed: "8", Where: "Table 1", Of: lab.Of("D of Sec. 4.3"), Is: lab.Rounds(), Why: "the formula rests on Lemma 4.1 where that does not hold. The authors did not use it for Table 1"},
		{Name: "overflows with that D, rounded up", Printed: "with probability ε = 1/m at most", Where: "Theorem 4.1", Of: lab.Of("overflows", "bucket", "D = 3"), Is: lab.AtMost(lab.Of("ε")), Why: "the formula for D rests on Lemma 4.1 where that does not hold"},
		{Name: "overflows with Table 1's D = 8, no tree", Printed: "with probability ε = 1/m at most", Where: "Theorem 4.1", Of: lab.Of("overflows", "bucket", "D = 8"), Is: lab.AtMost(lab.Of("ε"))},
		{Name: "overflows with Table 1's D = 8, 3 branches", Printed: "with probability ε = 1/m at most", Where: "Theorem 4.1", Of: lab.Of("overflows", "bucket", "D = 8, 3 branches"), Is: lab.AtMost(lab.Of("ε"))},
		{Kind: lab.Own, Name: "overflows with 3 slots, against exact odds", Printed: "1 - exp(-m P[X > 3])", Of: lab.Of("overflows", "bucket", "D = 3"), Is: lab.Matches(lab.Of("exact odds"))},
	},
}

const wrongSign = "the sign is wrong: without the minus, and with one before kn, the formulas give filters of the rate asked for"

// fewHashes is the example of Sec. 4.3, which the authors' program has.
const fewHashes = 4

func runFormulas(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, rate, queries := float64(e.Int("keys")), e.Float("rate"), e.Int("queries")
	best := int(math.Round(theory.ElasticHashes(rate)))
	shape := func(at lab.At) bloom.Shape {
		k := at.Int("k")
		if k == best {
			return bloom.Shape{Bits: uint64(math.Ceil(theory.BloomBits(n, rate))), Hashes: k}
		}
		return bloom.Shape{Bits: uint64(math.Ceil(theory.ElasticBits(n, rate, k))), Hashes: k}
	}
	e.Part(0, 2)
	rates, err := lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "rates", Title: "Filters of the sizes that the formulas give", Dims: []lab.Dim{lab.Along("k", fewHashes, best)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (float64, error) {
			f, err := bloom.Build(shape(at))
			if err != nil {
				return 0, err
			}
			err = addAll(f, lab.RandomKeys(r, int(n)))
			return yesRate(f, r, queries), err
		},
		Metrics:  []lab.Metric[float64]{{Name: "rate", Unit: lab.InPercent, Of: itself, Asked: lab.Each(queries)}},
		Formulas: []lab.Formula{{Name: "Sec. 4.1", Unit: lab.InPercent, Of: func(at lab.At) float64 { return shape(at).FPR(uint64(n)) }}},
	})
	if err != nil {
		return nil, err
	}
	e.Part(1, 2)
	overflows, err := overflowing(ctx, e)
	return &lab.Result{
		Grids: []*lab.Grid{rates, overflows, constants(n, rate), lemma(), bounds(), slots()},
		Notes: []string{"Rates are those of standard filters of the sizes that the formulas give: the fast memory of an EBF is one. Buckets are filled up to Ω, with 2^15 bits and k = 5."},
	}, err
}

// overflowing counts the filters in which a bucket overflows before the set-bit rate is
// Ω: with D as Sec. 4.3 gives it, and as Table 1 has it, without and with trees.
func overflowing(ctx context.Context, e *lab.Env) (*lab.Grid, error) {
	sizes := []bucketing{{tableSize, 3, 1}, {tableSize, tableSlots, 1}, {tableSize, tableSlots, tableBranches}}
	return lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "overflows", Title: "Filters of 2^15 bits with an overflow before Ω = 0.2", Dims: []lab.Dim{lab.Among("bucket", "D = 3", "D = 8", "D = 8, 3 branches")}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (float64, error) {
			_, full, err := sizes[at.Int("bucket")].fill(tableHashes, lab.RandomKeys(r, int(fullKeys(tableSize))), r.Uint64())
			if full {
				return 1, err
			}
			return 0, err
		},
		Metrics: []lab.Metric[float64]{{Name: "overflows", Unit: lab.InPercent, Of: itself, Asked: lab.Each(1)}},
		Formulas: []lab.Formula{
			{Name: "exact odds", Unit: lab.InPercent, Of: func(at lab.At) float64 {
				b := sizes[at.Int("bucket")]
				return -math.Expm1(-math.Exp2(b.size) / float64(b.branches) * theory.ElasticTreeOverflow(-math.Log1p(-tableThreshold), int(b.slots), b.branches))
			}},
			lab.Fixed("ε", lab.InPercent, math.Ldexp(1, -tableSize)),
		},
	})
}

func constants(n, rate float64) *lab.Grid {
	const m = 1 << tableSize
	return lab.Computed("constants", "Numbers of Sec. 4", nil,
		lab.Fixed("2^w bits in MB", lab.Plain, math.Ldexp(1, hashBits-3)/(1<<20)),
		lab.Fixed("k as printed", lab.Plain, -math.Log2(1/rate)), lab.Fixed("k mended", lab.Plain, theory.ElasticHashes(rate)), lab.Fixed("k* of Sec. 4.1", lab.Plain, theory.BloomHashes(theory.BloomBits(n, rate), n)),
		lab.Fixed("m as printed", lab.Plain, fewHashes*n/math.Log(1-math.Pow(rate, 1.0/fewHashes))), lab.Fixed("m mended", lab.Plain, theory.ElasticBits(n, rate, fewHashes)),
		lab.Fixed("Ω with k = 4", lab.Plain, theory.ElasticThreshold(rate, fewHashes)), lab.Fixed("Δ of Table 1", lab.Plain, tableRate),
		lab.Fixed("a = enk/m", lab.Plain, math.E*fullKeys(tableSize)*tableHashes/m), lab.Fixed("D of Sec. 4.3", lab.Plain, theory.ElasticBucketSize(fullKeys(tableSize), m, 1.0/m, tableHashes)))
}

// lemma has the points at which Lemma 4.1 is looked at.
func lemma() *lab.Grid {
	a, b := lab.Dim{Name: "a"}, lab.Dim{Name: "b"}
	for v := 4.001; v < 1000; v *= 1.25 {
		a.Values = append(a.Values, v)
	}
	for v := 0.111; v > 1e-30; v /= 10 {
		b.Values = append(b.Values, v)
	}
	return lab.Computed("", "", []lab.Dim{a, b}, lab.Formula{Name: "lemma holds", Of: func(at lab.At) float64 {
		if theory.ElasticLemma(at.Float("a"), at.Float("b")) {
			return 1
		}
		return 0
	}})
}

// bounds are both sides of Eq. (3) for so many fingerprints in a bucket.
func bounds() *lab.Grid {
	const n, m, k = 1e5, 1 << 20, 7
	return lab.Computed("bounds", "Eq. (3), n = 10^5, m = 2^20, k = 7", []lab.Dim{lab.Along("M", 3, 4, 6, 8, 10, 12)},
		lab.Formula{Name: "left side over exact odds", Of: func(at lab.At) float64 {
			return theory.ElasticOverflowBound(n, m, k, at.Int("M")) / (m * theory.ElasticTreeOverflow(k*n/m, at.Int("M")-1, 1))
		}},
		lab.Formula{Name: "right side as printed", Of: func(at lab.At) float64 { return m * math.Pow(math.E*n*k/at.Float("M"), at.Float("M")) }})
}

// slots are those that the formula gives and those that are needed.
func slots() *lab.Grid {
	const m = 1 << tableSize
	needed := func(branches float64) func(at lab.At) float64 {
		return func(at lab.At) float64 {
			d := 1
			for m/branches*theory.ElasticTreeOverflow(-math.Log1p(-at.Float("Ω")), d, int(branches)) > 1.0/m {
				d++
			}
			return float64(d)
		}
	}
	return lab.Computed("needed", "Slots for no overflow with probability 1 - 1/m", []lab.Dim{lab.Along("Ω", 0.02, 0.1, tableThreshold, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.88)},
		lab.Formula{Name: "formula of Sec. 4.3", Of: func(at lab.At) float64 {
			return theory.ElasticBucketSize(-math.Log1p(-at.Float("Ω"))*m/tableHashes, m, 1.0/m, tableHashes)
		}},
		lab.Formula{Name: "needed without trees", Of: needed(1)}, lab.Formula{Name: "needed with 3 branches", Of: needed(tableBranches)})
}
