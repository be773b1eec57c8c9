package sum

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var params = lab.Experiment{
	ID:       "sum/params",
	Title:    "Sizing: m, k and P, with k random seeds or one hash",
	Question: "Does a filter that is sized by the formulas for m and k have the rate P of the third one, is that k the best, and does it matter how the k positions are found?",
	Says: "Implementation: P is 0.001 if m is not given, m = -n ln(P) / (ln 2)², k = (m/n) ln 2, and in turn P = (1 - [1 - 1/m]^(kn))^k; " +
		"the hash functions, MurmurHash3 with k seeds from randint(0, 2147483647), 32 bits \"reduced by modulo m\", must be independent and uniformly random.",
	Params: lab.Params{lab.Int("keys", 1_000).Full(10_000), lab.Ints("hashes", 1, 4, 7, 10, 13).Full(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14), lab.Int("trials", 100).Full(200), lab.Int("queries", 5_000).Full(20_000)},
	Run:    runParams,
	Plots: []lab.View{{
		Name: "rate", Title: "The rate over the number of hashes, with m for P = 0.001", X: "k", By: "positions", XAxis: lab.Axis{Label: "hashes k"}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
		Curves: []lab.Curve{{Measured: "rate", Style: lab.Dots}, {Name: "P by the formula", Formula: "P", Once: true}}, Marks: []lab.Mark{{X: 10, Y: 0.001, Text: "P = 0.001"}},
	}},
	Claims: append([]lab.Claim{
		{Name: "rate of filters sized by m and k", Printed: "P = (1 - [1 - 1/m]^(kn))^k", Where: "Implementation", Of: lab.Of("rate"), Is: lab.Matches(lab.Of("P"))},
		{Kind: lab.Own, Name: "rate of one hash in place of k", Printed: "that of k independent hashes", Of: lab.Of("rate"), Is: lab.Matches(lab.Of("rate", "positions", seededWay))},
		{Name: "the best number of hashes", Printed: "k = (m/n) ln 2, which is 9.97: no other k is clearly better than 10", Where: "Implementation", Of: lab.Of("rate"), Is: lab.AtLeast(lab.Of("rate", "k", 10))},
	}, constantClaims...),
}

var (
	byDefault, _              = bloom.Config{Items: 1_000}.Shape() // zero if refused, which the claims see
	constants, constantClaims = lab.Constants("constants", "Computed: the default, and 32-bit hashes modulo m",
		lab.Constant{Name: "bits of the default, for 1,000 keys", Printed: "m of P = 0.001 if it is not given", Where: "Implementation", Value: float64(byDefault.Bits), Is: lab.Matches(lab.Number(math.Ceil(theory.BloomBits(1_000, 0.001))))},
		lab.Constant{Name: "hashes of the default", Printed: "k of P = 0.001 if it is not given", Where: "Implementation", Value: float64(byDefault.Hashes), Is: lab.Matches(lab.Number(math.Round(theory.BloomHashes(theory.BloomBits(1, 0.001), 1))))},
		lab.Constant{Name: "reduced by modulo m: rate to that of even positions, 10 million keys", Printed: "uniformly random: taken as at most 1 % above", Where: "Implementation", Value: moduloToEven(1e7), Is: lab.AtMost(lab.Number(1.01))},
		lab.Constant{
			Name: "reduced by modulo m: rate to that of even positions, 200 million keys", Printed: "uniformly random: taken as at most 1 % above", Where: "Implementation", Value: moduloToEven(2e8), Is: lab.AtMost(lab.Number(1.01)),
			Why: "m is 2.9e9 then: half of the positions are the remainder of two hashes of 32 bits, and the others of one. A wider hash is all that it takes",
		})
)

// rateOf returns the share of absent keys that a filter says yes to.
func rateOf(way string, r *rand.Rand, s bloom.Shape, n, queries int) (float64, error) {
	f, err := newTexts(way, r, s)
	if err != nil {
		return 0, err
	}
	var key []byte
	for range n {
		key = address(key, r, 0)
		f.add(key)
	}
	yes := 0.0
	for range queries {
		key = address(key, r, 1)
		yes += lab.OneIf(f.has(key))
	}
	return yes / float64(queries), nil
}

func runParams(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	s, err := bloom.Config{Items: uint64(n)}.Shape()
	if err != nil {
		return nil, err
	}
	with := func(at lab.At) bloom.Shape { return bloom.Shape{Bits: s.Bits, Hashes: at.Int("k")} }
	return lab.Find(ctx, e, lab.Sweep{
		Name: "rates", Title: "Filters with m for P = 0.001, random IPv4 addresses as text", Trials: e.Int("trials"),
		Dims: []lab.Dim{lab.Among("positions", seededWay, murmurWay, derivedWay), lab.Along("k", e.Ints("hashes")...)},
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			rate, err := rateOf(at.Name("positions"), r, with(at), n, queries)
			return lab.Figures{"rate": rate}, err
		},
		Metrics:  []lab.Metric{{Name: "rate", Unit: lab.InPercent, Asked: lab.Each(queries)}},
		Formulas: []lab.Formula{{Name: "P", Unit: lab.InPercent, Of: func(at lab.At) float64 { return theory.BloomFPR(float64(s.Bits), at.Float("k"), float64(n)) }}},
	}, constants)
}

// moduloToEven is what reducing a 32-bit hash modulo m does to the rate of n keys, with m
// for P = 0.001; 0 if there is no such filter. From 298 million keys on hashes of 32 bits do
// not reach all positions.
func moduloToEven(n uint64) float64 {
	s, err := bloom.Config{Items: n}.Shape()
	if err != nil {
		return 0
	}
	return moduloRate(s, float64(n)) / s.FPR(n)
}

// moduloRate is P if a position has the probability c/2^32 for c hash values:
//
//	(sum over positions of p (1 - (1 - p)^(kn)))^k
func moduloRate(s bloom.Shape, n float64) float64 {
	m, k := float64(s.Bits), float64(s.Hashes)
	low := math.Floor((1 << 32) / m)
	more := (1 << 32) - low*m // positions with one value more
	hit := func(values float64) float64 {
		p := values / (1 << 32)
		return p * -math.Expm1(k*n*math.Log1p(-p))
	}
	return math.Pow(more*hit(low+1)+(m-more)*hit(low), k)
}
