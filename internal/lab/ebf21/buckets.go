package ebf21

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var formulas = lab.Experiment{
	ID:       "ebf21/formulas",
	Title:    "Sec. 4: sizes, rates and bucket sizes by formula",
	Question: "Do the formulas of Sec. 4 give filters of the rate that was asked for, and buckets that do not overflow?",
	Says: "Sec. 4.1: m = log2(e) n log2(1/δ), k* = ln(2) m/n. Sec. 4.3: k = -log2(1/δ), or e.g. 4, and m = kn/ln(1 - δ^(1/k)), Ω = δ^(1/k), w = 32 for up to 512MB, and D = (enk/m) ln((ε/m)^-0.5) / " +
		"ln ln((ε/m)^-0.5) with ε = 1/m, so that by Theorem 4.1 no bucket overflows but for probability ε.",
	Params: lab.Params{lab.Int("trials", 50).Full(1_000)},
	Run:    runFormulas,
	Plots: []lab.View{{
		Name: "slots", Title: "Odds that a bucket overflows before Ω = 0.2, m = 2^15", X: "D", By: "branches", XAxis: lab.Axis{Label: "slots D; the formula of Sec. 4.3 gives 2.69, Table 1 has 8"}, Y: lab.Axis{Label: "filters with an overflow", Percent: true},
		Curves: []lab.Curve{{Measured: "overflows", Formula: "exact odds"}},
	}},
	Claims: append(sec4Claims,
		lab.Claim{Name: "overflows with that D, rounded up", Printed: overflowOdds, Where: "Theorem 4.1", Of: lab.Of("overflows", "D", 3, "branches", 1), Is: lab.AtMost(lab.Of("ε")), Why: "the formula for D rests on Lemma 4.1 where that does not hold"},
		lab.Claim{Name: "overflows with Table 1's D = 8, no tree", Printed: overflowOdds, Where: "Theorem 4.1", Of: lab.Of("exact odds", "D", 8, "branches", 1), Is: lab.AtMost(lab.Of("ε")), Show: []lab.Pick{lab.Of("overflows", "D", 8, "branches", 1)}},
		lab.Claim{Name: "overflows with Table 1's D = 8, 3 branches", Printed: overflowOdds, Where: "Theorem 4.1", Of: lab.Of("exact odds", "D", 8, "branches", tableBranches), Is: lab.AtMost(lab.Of("ε")), Show: []lab.Pick{lab.Of("overflows", "D", 8, "branches", tableBranches)}},
		lab.Claim{Kind: lab.Own, Name: "overflows against exact odds", Printed: "1 - exp(-(m/b) P[a tree overflows])", Of: lab.Of("overflows", "branches", 1), Is: lab.In(lab.Span{Dim: "D", From: 3, To: 5}, lab.Matches(lab.Of("exact odds")))},
	),
}

const (
	overflowOdds = "with probability ε = 1/m at most"
	wrongSign    = "the sign is wrong: without the minus, and with one before kn, the formulas give filters of the rate asked for"
)

// What is computed: k = 4 is the example of Sec. 4.3, n and δ are ours.
var sec4, sec4Claims = func() (lab.Part, []lab.Claim) {
	const n, rate, k, m = 20_000, 0.01, 4, 1 << tableSize
	left, right := eq3()
	failures, tried := lemmaFailures()
	least := lab.AtLeast(lab.Number(1))
	return lab.Constants("constants", "Numbers of Sec. 4",
		lab.Constant{Name: "w = 32: largest filter in MB", Printed: "512", Where: "Sec. 4.3", Value: math.Ldexp(1, hashBits-3) / (1 << 20)},
		lab.Constant{Kind: lab.Erratum, Name: "k of Sec. 4.3", Printed: "k = -log2(1/δ) is a number of hashes", Where: "Sec. 4.3", Value: -math.Log2(1 / rate), Is: least, Why: wrongSign},
		lab.Constant{Kind: lab.Erratum, Name: "m of Sec. 4.3", Printed: "m = kn/ln(1 - δ^(1/k)) is a number of bits", Where: "Sec. 4.3", Value: k * n / math.Log(1-math.Pow(rate, 1.0/k)), Is: least, Why: wrongSign},
		lab.Constant{Name: "points at which Lemma 4.1 fails", Printed: "(a/M)^M <= b for all a > 4, b in (0, 1/9)", Where: "Sec. 4.2", Value: failures, Is: lab.Zero(lab.Number(tried))},
		lab.Constant{Kind: lab.Erratum, Name: "Lemma 4.1 where Theorem 4.1 uses it, at Table 1", Printed: "a = enk/m is above 4", Where: "Theorem 4.1", Value: math.E * fullKeys(tableSize) * tableHashes / m, Is: lab.Above(lab.Number(4)), Why: "at the threshold enk/m is -e ln(1 - Ω), which is above 4 only for Ω above 0.77"},
		lab.Constant{Name: "Eq. (3), left side over exact odds", Printed: "at most ε for M that is large enough: a bound of the odds", Where: "Eq. (3)", Value: left, Is: least},
		lab.Constant{Kind: lab.Erratum, Name: "Eq. (2) and (3), right side", Printed: "m (enk/M)^M bounds a probability", Where: "Eq. (3)", Value: right, Is: lab.AtMost(lab.Number(1)), Why: "an m is missing: it is (enk/(mM))^M"},
		lab.Constant{Kind: lab.Question, Name: "D of Sec. 4.3 at Table 1's k, m and Ω", Printed: "Table 1 has 8; that it follows from the formula is not said", Where: "Sec. 4.3", Value: theory.ElasticBucketSize(fullKeys(tableSize), m, 1.0/m, tableHashes), Is: lab.Shows()},
	)
}()

// lemmaFailures counts the points at which the lemma fails, and those that it tried.
func lemmaFailures() (n, tried float64) {
	for a := 4.001; a < 1000; a *= 1.25 {
		for b := 0.111; b > 1e-30; b /= 10 {
			n += lab.OneIf(!theory.ElasticLemma(a, b))
			tried++
		}
	}
	return n, tried
}

// eq3 is the least of both sides of Eq. (3) for some M, the left one over exact odds.
func eq3() (left, right float64) {
	const n, m, k = 1e5, 1 << 20, 7
	left, right = math.Inf(1), math.Inf(1)
	for _, M := range []int{3, 4, 6, 8, 10, 12} {
		left = min(left, theory.ElasticOverflowBound(n, m, k, M)/bucketing{20, M - 1, 1}.overflowing(k*n/m))
		right = min(right, m*math.Pow(math.E*n*k/float64(M), float64(M)))
	}
	return left, right
}

// runFormulas counts the filters in which a bucket overflows before the set-bit rate is
// Ω: with D as Sec. 4.3 gives it, and as Table 1 has it, without and with trees.
func runFormulas(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	bucketingAt := func(at lab.At) bucketing { return bucketing{tableSize, at.Int("D"), at.Int("branches")} }
	return lab.Find(ctx, e, sec4, lab.Sweep{
		Name: "overflows", Title: "Filters of 2^15 bits with an overflow before Ω = 0.2", Dims: []lab.Dim{lab.Along("D", 3, 4, 5, 6, 8), lab.Along("branches", 1, tableBranches)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			_, full, err := bucketingAt(at).fill(tableHashes, lab.RandomKeys(r, int(fullKeys(tableSize))), r.Uint64())
			return lab.Figures{"overflows": lab.OneIf(full)}, err
		},
		Metrics: []lab.Metric{{Name: "overflows", Unit: lab.InPercent, Asked: lab.Each(1)}},
		Formulas: []lab.Formula{
			{Name: "exact odds", Unit: lab.InPercent, Of: func(at lab.At) float64 {
				return -math.Expm1(-bucketingAt(at).overflowing(-math.Log1p(-tableThreshold)))
			}},
			lab.Fixed("ε", lab.InPercent, math.Ldexp(1, -tableSize)),
		},
	}, lab.Notes{"Buckets are filled up to Ω, with 2^15 bits and k = 5. The fast memory of an EBF is a standard filter, whose rate ebf21/fig3 measures."})
}

// fig9Hashes is k of Sec. 5.5.
const fig9Hashes = 8

var fig9 = lab.Experiment{
	ID:       "ebf21/fig9",
	Title:    "Fig. 9: the load rate by size, bucket size and branches",
	Question: "Which share of the slots is in use when the first bucket tree overflows?",
	Says: "Sec. 5.5, CAIDA trace, 8 hash functions, 2^19 items: the load rate \"gets lower as the size of the Bloom filter gets larger\" and \"more branches can " +
		"increase the load rate\"; \"with the number of branches fixed, the load rate increases as the size of the buckets gets larger. And with the size of the buckets fixed, the load rate increases as the number of branches gets larger.\"",
	Params: lab.Params{lab.Ints("sizes, log2", 8, 10, 12).Full(8, 10, 12, 14, 16), lab.Ints("slots", 2, 4, 8).Full(2, 4, 8, 16, 32), lab.Ints("branches", 1, 2, 3, 4, 8), lab.Int("trials", 20)},
	Run:    runFig9,
	Plots:  []lab.View{loadView("9a", "log2 size", "slots", tableSlots), loadView("9b", "slots", "log2 size", 12)},
	Claims: []lab.Claim{
		{Name: "the load rate by size", Printed: "gets lower as the size of the Bloom filter gets larger", Where: "Sec. 5.5", Of: lab.Of("load rate"), Is: lab.Falls("log2 size")},
		{Name: "the load rate by branches", Printed: "more branches can increase the load rate", Where: "Sec. 5.5", Of: lab.Of("load rate"), Is: lab.Rises("branches")},
		{Name: "the load rate by bucket size", Printed: "increases as the size of the buckets gets larger", Where: "Sec. 5.5", Of: lab.Of("load rate"), Is: lab.Rises("slots")},
	},
}

func loadView(name, along, other string, at int) lab.View {
	return lab.View{
		Name: name, Title: "Load rate at the first overflow", X: along, By: "branches", At: []any{other, at}, Y: lab.Axis{Label: "slots in use", Percent: true},
		Curves: []lab.Curve{{Measured: "load rate"}},
	}
}

// bucketing is what a load rate depends on.
type bucketing struct{ size, slots, branches int }

// slotsInAll is T of Sec. 5.1.3: level 1, and level 2 if there is one.
func (b bucketing) slotsInAll() float64 {
	buckets := 1 << b.size
	if b.branches > 1 {
		buckets += (buckets + b.branches - 1) / b.branches
	}
	return float64(b.slots * buckets)
}

// overflowing is how many trees are expected to overflow with so many fingerprints to a
// bucket.
func (b bucketing) overflowing(load float64) float64 {
	return math.Ldexp(1, b.size) / float64(b.branches) * theory.ElasticTreeOverflow(load, b.slots, b.branches)
}

// fill adds keys, with any threshold, until one finds no room or there are no more.
func (b bucketing) fill(hashes int, keys []filter.Key, salt uint64) (n uint64, full bool, err error) {
	f, err := elastic.Build(elastic.Shape{
		Bits: 1 << b.size, Hashes: hashes, HashBits: hashBits, Slots: b.slots, Branches: b.branches, Threshold: 1, Salt: salt,
	})
	if err != nil {
		return 0, false, err
	}
	_, _, err = f.AddBatch(keys)
	if errors.Is(err, filter.ErrFull) {
		return f.Len(), true, nil
	}
	return f.Len(), false, err
}

func runFig9(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	return lab.Find(ctx, e, lab.Sweep{
		Name: "rates", Title: "Load rate at the first overflow", Trials: e.Int("trials"),
		Dims: []lab.Dim{lab.Along("log2 size", e.Ints("sizes, log2")...), lab.Along("slots", e.Ints("slots")...), lab.Along("branches", e.Ints("branches")...)},
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			b := bucketing{at.Int("log2 size"), at.Int("slots"), at.Int("branches")}
			n, full, err := b.fill(fig9Hashes, lab.RandomKeys(r, int(1.1*b.slotsInAll()/fig9Hashes)), r.Uint64())
			if !full {
				return nil, err
			}
			return lab.Figures{"load rate": float64(n) * fig9Hashes / b.slotsInAll()}, err
		},
		Metrics: []lab.Metric{{Name: "load rate", Unit: lab.InPercent}},
	}, lab.Notes{
		"k = 8. A repeated packet finds its fingerprints and changes nothing, so that only flows were added, each once, and in place of CAIDA's these are random. One branch is without level 2.",
	})
}
