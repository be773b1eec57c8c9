package ebf21

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var formulas = lab.Experiment{
	ID:       "ebf21/formulas",
	Paper:    "[EBF21]",
	Title:    "Sec. 4: sizes, rates and bucket sizes by formula",
	Question: "Do the formulas of Sec. 4 give filters of the rate that was asked for, and buckets that do not overflow?",
	Says: "Sec. 4.1: m = log2(e) n log2(1/δ), k* = ln(2) m/n. Sec. 4.3: k = -log2(1/δ), or e.g. 4, and m = kn/ln(1 - δ^(1/k)), Ω = δ^(1/k), w = 32 for up to 512MB, and D = (enk/m) ln((ε/m)^-0.5) / " +
		"ln ln((ε/m)^-0.5) with ε = 1/m, so that by Theorem 4.1 no bucket overflows but for probability ε.",
	Quick: lab.Params{lab.Int("keys", 2_000), lab.Float("rate", 0.01), lab.Int("hashes", 4), lab.Int("trials", 50), lab.Int("queries", 20_000)},
	Full:  lab.Params{lab.Int("keys", 20_000), lab.Float("rate", 0.01), lab.Int("hashes", 4), lab.Int("trials", 1_000), lab.Int("queries", 100_000)},
	Run:   runFormulas,
}

func runFormulas(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, rate, k := float64(e.Int("keys")), e.Float("rate"), e.Int("hashes")
	e.Progress(0, 3)
	best, err := sizedRate(ctx, e, theory.BloomBits(n, rate), int(math.Round(theory.ElasticHashes(rate))))
	if err != nil {
		return nil, err
	}
	e.Progress(1, 3)
	few, err := sizedRate(ctx, e, theory.ElasticBits(n, rate, k), k)
	if err != nil {
		return nil, err
	}
	e.Progress(2, 3)
	overflows, err := countOverflows(ctx, e)
	if err != nil {
		return nil, err
	}
	checks := append(sizeChecks(n, rate, k), best, few)
	return &lab.Result{
		Plots:  []lab.Plot{slotPlot()},
		Tables: []lab.Table{overflowTable(overflows, e.Int("trials"))},
		Checks: append(checks, boundChecks(overflows, e.Int("trials"))...),
		Notes:  []string{"Rates are those of standard filters of the sizes that the formulas give: the fast memory of an EBF is one. Buckets are filled up to Ω, with 2^15 bits and k = 5."},
	}, nil
}

// sizeChecks are the formulas of Sec. 4.1 and 4.3 as printed.
func sizeChecks(n, rate float64, k int) []lab.Check {
	printedHashes := -math.Log2(1 / rate)
	printedBits := float64(k) * n / math.Log(1-math.Pow(rate, 1/float64(k)))
	const sign = "the sign is wrong: without the minus, and with one before kn, the formulas give what is checked below"
	return []lab.Check{
		lab.Exact("w = 32: largest filter in MB", "512", math.Ldexp(1, hashBits-3)/(1<<20)),
		lab.Holds("k of Sec. 4.3", "k = -log2(1/δ)", fmt.Sprintf("%.3g for δ = %v", printedHashes, rate), printedHashes > 0, "a number of hashes is above 0").Because(sign),
		lab.Holds("m of Sec. 4.3", "m = kn/ln(1 - δ^(1/k))", fmt.Sprintf("%.3g for n = %v, k = %d", printedBits, n, k), printedBits > 0, "a number of bits is above 0").Because(sign),
		lab.Holds("k* of Sec. 4.1 is the mended k of Sec. 4.3", "k* = ln(2) m/n, m = log2(e) n log2(1/δ)",
			fmt.Sprintf("%.6g and %.6g", theory.BloomHashes(theory.BloomBits(n, rate), n), theory.ElasticHashes(rate)),
			math.Abs(theory.BloomHashes(theory.BloomBits(n, rate), n)-theory.ElasticHashes(rate)) < 1e-9, "equal but for rounding in the computer"),
		lab.Show("Ω = δ^(1/k) of the example k = 4", fmt.Sprintf("%s for δ = %v; Table 1's 0.2 with k = 5 is δ = %s", lab.Digits(theory.ElasticThreshold(rate, k), 4), rate, lab.Digits(tableRate, 3))),
	}
}

// sizedRate fills filters of m bits and k hashes, and compares with the formula.
func sizedRate(ctx context.Context, e *lab.Env, m float64, k int) (lab.Check, error) {
	n, shape := e.Int("keys"), bloom.Shape{Bits: uint64(math.Ceil(m)), Hashes: k}
	rates, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (float64, error) {
		f, err := bloom.Build(shape)
		if err != nil {
			return 0, err
		}
		err = addAll(f, distinct(r, n))
		return float64(countYes(f, r, e.Int("queries"))) / float64(e.Int("queries")), err
	})
	p := shape.FPR(uint64(n))
	return lab.Predicted(fmt.Sprintf("rate with m = %d, k = %d, asked for %v", shape.Bits, k, e.Float("rate")), "Sec. 4.1: [1 - (1 - 1/m)^(kn)]^k", p, lab.Mean(rates)), err
}

// bucketSizes are D as Sec. 4.3 gives it, rounded up, and as Table 1 has it, without
// and with the bucket tree.
var bucketSizes = []bucketing{{tableSize, 3, 1}, {tableSize, tableSlots, 1}, {tableSize, tableSlots, tableBranches}}

// countOverflows counts the filters in which a bucket overflows before the set-bit
// rate is Ω.
func countOverflows(ctx context.Context, e *lab.Env) ([]int, error) {
	counts := make([]int, len(bucketSizes))
	for i, b := range bucketSizes {
		over, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (bool, error) {
			f, err := elastic.Build(elastic.Shape{Bits: 1 << b.size, Hashes: tableHashes, HashBits: hashBits, Slots: b.slots, Branches: b.branches, Threshold: 1, Salt: r.Uint64()})
			if err != nil {
				return false, err
			}
			_, _, err = f.AddBatch(distinct(r, int(fullKeys(b.size))))
			if errors.Is(err, filter.ErrFull) {
				return true, nil
			}
			return false, err
		})
		if err != nil {
			return nil, err
		}
		for _, o := range over {
			if o {
				counts[i]++
			}
		}
	}
	return counts, nil
}

// overflowOdds is the exact probability for independent buckets.
func overflowOdds(b bucketing) float64 {
	trees := math.Ldexp(1, b.size) / float64(b.branches)
	return -math.Expm1(-trees * theory.ElasticTreeOverflow(-math.Log1p(-tableThreshold), b.slots, b.branches))
}

func overflowTable(overflows []int, trials int) lab.Table {
	t := lab.Table{Name: "overflows", Title: "Filters of 2^15 bits with an overflow before Ω = 0.2", Columns: []string{"slots", "branches", "overflows", "trials", "exact odds", "bound of Eq. (3)", "ε"}}
	for i, b := range bucketSizes {
		bound := "–"
		if b.branches == 1 {
			bound = lab.Digits(min(1, theory.ElasticOverflowBound(fullKeys(b.size), math.Ldexp(1, b.size), tableHashes, b.slots+1)), 3)
		}
		t.Add(b.slots, b.branches, overflows[i], trials, lab.Digits(overflowOdds(b), 3), bound, lab.Digits(math.Ldexp(1, -b.size), 3))
	}
	return t
}
