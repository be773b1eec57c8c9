package dlcbf06

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var worked = lab.Experiment{
	ID:       "dlcbf06/worked",
	Paper:    paper,
	Title:    "The worked figures of Sections 1, 2, 4 and 5",
	Question: "Do the paper's computed figures come out of its formulas, and out of real filters, and what does the d-left filter save?",
	Says: "Sec. 2.1: 10 bits and 7 hashes give just over 0.008. Sec. 4: 9 counters and 6 hashes 0.01327 in 36 bits, 11-bit remainders 0.01172 in 52/3; " +
		"at equal size the CBF's rate is higher for all r ≥ 7, by a factor of over 100 at r = 14; the factor 4/3 could be reduced arbitrarily close to 1. " +
		"Sec. 5.1: 24·2^-14 ≈ 0.001465, exactly 2^20 bits, five equal hash values with probability 5.62e-17.",
	Quick: lab.Params{lab.Int("keys", 6_000), lab.Int("trials", 60), lab.Int("queries", 20_000), lab.Ints("cells", 4, 8, 16)},
	Full:  lab.Params{lab.Int("keys", 12_000), lab.Int("trials", 2_000), lab.Int("queries", 100_000), lab.Ints("cells", 4, 6, 8, 12, 16, 24, 32)},
	Run:   runWorked,
}

func runWorked(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	measured, err := measuredFigures(ctx, e)
	if err != nil {
		return nil, err
	}
	return &lab.Result{
		Checks: slices.Concat(bloomFigures(), wasteFigures(), sizeFigures(), savingFigures(), exampleFigures(), measured),
		Plots:  []lab.Plot{bitsPlot(), ratioPlot()},
		Tables: []lab.Table{equalSize(), tighter(e.Ints("cells"))},
	}, nil
}

// bloomFigures are those of Sec. 1 and 2.1.
func bloomFigures() []lab.Check {
	onePercent, seven := theory.BloomBits(1, 0.01), theory.BloomFPR(10_000, 7, 1_000)
	return []lab.Check{
		lab.Holds("Sec. 1: bits per element for 1 %", "less than 10", lab.Digits(onePercent, 3), onePercent < 10, "below 10"),
		lab.Exact("Sec. 2.1: base of the rate over bits per element", "0.6185", theory.CountingOptimalFPR(1)),
		lab.Holds("Sec. 2.1: rate at 10 bits and 7 hashes", "just over 0.008", lab.Digits(seven, 3), seven > 0.008 && seven < 0.0085,
			"0.008 to 0.0085: over, and nearer to 0.008 than to 0.009"),
	}
}

// ratioAt is the rate of a CBF over that of a dlCBF with r bits, at equal size.
func ratioAt(r int) float64 {
	return theory.CountingOptimalFPR(float64(r+2)/3) / theory.DLeftRateBound(4, 6, r)
}

// sizeFigures are those of Sec. 4.
func sizeFigures() []lab.Check {
	higher, rising := true, true
	for r := 7; r <= 30; r++ {
		higher = higher && ratioAt(r) > 1
		rising = rising && ratioAt(r) > ratioAt(r-1)
	}
	eleven := dleft.Shape{Subtables: 4, Buckets: 1_000, Cells: 8, Remainder: 11, Counter: 2}
	bits := float64(eleven.Bits()) / 24_000
	return []lab.Check{
		lab.Exact("Sec. 4: rate of 9 counters, 6 hashes", "0.01327", theory.BloomFPR(9e6, 6, 1e6)),
		lab.Exact("Sec. 4: 24·2^-11", "0.01172", theory.DLeftRateBound(4, 6, 11)),
		lab.Holds("Sec. 4: bits per element for r = 11, 4(r+2)/3", "52/3", lab.Digits(bits, 5), math.Abs(bits-52.0/3) < 1e-9, "equal"),
		lab.Holds("Sec. 4: the same by (4 log2(1/f) + 20 + 4 log2 3)/3", "52/3", lab.Digits(theory.DLeftBitsPerKey(theory.DLeftRateBound(4, 6, 11)), 5),
			math.Abs(theory.DLeftBitsPerKey(theory.DLeftRateBound(4, 6, 11))-52.0/3) < 1e-9, "equal"),
		lab.Holds("Sec. 4: size beside that CBF", "less than 1/2", lab.Digits(bits/36, 3), bits/36 < 0.5, "below 1/2"),
		lab.Holds("Sec. 4: the CBF's rate is higher at equal size", "for all integers r ≥ 7", fmt.Sprintf("%s times at r = 7, %s at 6", lab.Digits(ratioAt(7), 3), lab.Digits(ratioAt(6), 3)),
			higher && ratioAt(6) < 1, "r = 7 to 30, and not at 6"),
		lab.Holds("Sec. 4: the more space, the larger the ratio", "for all r", "rises from "+lab.Digits(ratioAt(7), 3)+" to "+lab.Digits(ratioAt(30), 3), rising, "r = 7 to 30"),
		lab.Holds("Sec. 4: ratio at r = 14, c = 16/3", "over a factor of 100", lab.Digits(ratioAt(14), 3), ratioAt(14) > 100, "above 100").
			Because("The paper's own formulas, (2^(-ln 2))^(16/3) and 24·2^-14, give 52.6; 100 is passed at r = 16"),
		lab.Show("Sec. 4: less hashing than a CBF once the rate is small, which has c ln 2 hashes",
			fmt.Sprintf("one hash and four permutations; a CBF has more than five hashes from c = %s on, a rate of %s", lab.Digits(5/math.Ln2, 3), lab.Digits(math.Exp2(-5), 2))),
	}
}

// exampleFigures are the computed ones of Sec. 5.1.
func exampleFigures() []lab.Check {
	five := theory.DLeftEqualFingerprints(exampleKeys, fingerprints, 5)
	return []lab.Check{
		lab.Exact("Sec. 5.1: total capacity, 2^16", "65536", float64(4*2048*8)),
		lab.Exact("Sec. 5.1: target load, 3·2^14", "49152", 6*exampleBuckets),
		lab.Exact("Sec. 5.1: 24·2^-14", "0.001465", theory.DLeftRateBound(4, 6, 14)),
		lab.Exact("Sec. 5.1: size in bits, 2^20", "1048576", float64(example.Bits())),
		lab.Exact("Sec. 5.1: C(m,5)·(1/|B||R|)^5, as printed", "5.62e-17", five/fingerprints),
		lab.Exact("Sec. 5.1: odds that five elements share a hash value", "5.62e-17", five).
			Because("Four of the five must equal the first: the power is the fourth, C(m,5)·(1/|B||R|)^4 = 1.89e-9. That counters can be ignored still holds"),
	}
}

// measuredFigures fills real filters with the parameters of Sec. 4.
func measuredFigures(ctx context.Context, e *lab.Env) ([]lab.Check, error) {
	n := e.Int("keys")
	e.Progress(0, 2)
	nine, err := measure(ctx, e, func(salt uint64) (filter.Filter, error) {
		return counting.Build(counting.Shape{Counters: uint64(9 * n), Hashes: 6, CounterBits: 4, Salt: salt})
	})
	if err != nil {
		return nil, err
	}
	e.Progress(1, 2)
	s := dleft.Shape{Subtables: 4, Buckets: uint64(n / 24), Cells: 8, Remainder: 11, Counter: 2}
	eleven, err := measure(ctx, e, func(salt uint64) (filter.Filter, error) {
		s := s
		s.Salt = salt
		return dleft.Build(s)
	})
	if err != nil {
		return nil, err
	}
	least, _ := eleven.Interval(lab.Sigmas)
	return []lab.Check{
		lab.Measured("Sec. 4: rate of 9 counters, 6 hashes, measured", "0.01327", nine),
		lab.Predicted("Sec. 4: rate of 11-bit remainders, measured", "Sec. 3.2, 1 - (1 - 1/|B||R|)^m, with the sentinel", s.FPR(uint64(n)), eleven),
		lab.Holds("Sec. 4: 24·2^-r is an upper bound", "0.01172", eleven.String(), least <= theory.DLeftRateBound(4, 6, 11), "at most that, but for four standard errors"),
	}, nil
}

// measure returns the rate of filters of the given make, filled with keys.
func measure(ctx context.Context, e *lab.Env, build func(salt uint64) (filter.Filter, error)) (lab.Estimate, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	rates, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (float64, error) {
		f, err := build(r.Uint64())
		if err != nil {
			return 0, err
		}
		for range n {
			if _, err := f.Add(filter.Key(r.Uint64())); err != nil {
				return 0, err
			}
		}
		return float64(falsePositives(f, queries, r)) / float64(queries), nil
	})
	return lab.Mean(rates), err
}
