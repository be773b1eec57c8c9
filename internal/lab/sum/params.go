package sum

import (
	"context"
	"math"
	"math/rand/v2"
	"net/netip"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var params = lab.Experiment{
	ID:       "sum/params",
	Paper:    paper,
	Title:    "Sizing: m, k and P, with k random seeds or one hash",
	Question: "Does a filter that is sized by the formulas for m and k have the rate P of the third one, is that k the best, and does it matter how the k positions are found?",
	Says: "Implementation: P is 0.001 if nobody asks for another, m = -n ln(P) / (ln 2)², k = (m/n) ln 2, and in turn P = (1 - [1 - 1/m]^(kn))^k; the hash functions, MurmurHash3 with k seeds from randint(0, 2147483647), " +
		"32 bits \"reduced by modulo m\", must be independent and uniformly random. Approach: \"a Bloom Filter is only as fast as its hashing function\".",
	Quick: sizingParams(1_000, 100, 5_000),
	Full:  sizingParams(10_000, 500, 50_000),
	Run:   runParams,
	Plots: []lab.View{
		{
			Name: "rate", Title: "The rate that was asked for, and the one that came out", X: "asked P", By: "positions", XAxis: lab.Axis{Label: "asked P", Log: true, Percent: true}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
			Curves: []lab.Curve{{Measured: "rate", Style: lab.Dots}, {Name: "asked", Formula: "asked", Once: true}},
		},
		{
			Name: "best", Title: "The rate over the number of hashes, 10 bits per key", X: "k", XAxis: lab.Axis{Label: "hashes k"}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
			Curves: []lab.Curve{{Measured: "rate by hashes", Formula: "formula for P"}},
		},
	},
	Claims: []lab.Claim{
		{Name: "rate of filters sized by m and k", Printed: "P = (1 - [1 - 1/m]^(kn))^k", Where: "Implementation", Of: lab.Of("rate"), Is: lab.Matches(lab.Of("P of that m and k"))},
		{Kind: lab.Own, Name: "rate of one hash in place of k", Printed: "that of k independent hashes", Of: lab.Of("rate"), Is: lab.Matches(lab.Of("rate", "positions", seededWay))},
		{Name: "rate by the number of hashes", Printed: "P = (1 - [1 - 1/m]^(kn))^k", Where: "Implementation", Of: lab.Of("rate by hashes"), Is: lab.Matches(lab.Of("formula for P"))},
		{Name: "the best number of hashes", Printed: "k = (m/n) ln 2, which is 6.93: no other k is clearly better than 7", Where: "Implementation", Of: lab.Of("rate by hashes"), Is: lab.AtLeast(lab.Of("rate by hashes", "k", 7))},
		{Name: "bits of the default, for 1,000 keys", Printed: "m of P = 0.001 if it is not given", Where: "Implementation", Of: lab.Of("default m"), Is: lab.Matches(lab.Of("m of 0.001"))},
		{Name: "hashes of the default", Printed: "k of P = 0.001 if it is not given", Where: "Implementation", Of: lab.Of("default k"), Is: lab.Matches(lab.Of("k of 0.001"))},
		{Name: "reduced by modulo m", Printed: "uniformly random: taken as at most 1 % above the rate of even positions, up to 10 million keys", Where: "Implementation", Of: lab.Of("rate to that of even positions"), Is: lab.In(lab.Span{Dim: "addresses", To: 1e7}, lab.AtMost(lab.Number(1.01))), Show: []lab.Pick{lab.Of("rate to that of even positions", "addresses", 2e8)}},
		{Name: "time of a query, k hashes to one", Printed: "a Bloom Filter is only as fast as its hashing function", Where: "Approach", Of: lab.Of("query", lab.Contenders, seededWay).Over(lab.Of("query", lab.Contenders, derivedWay)), Is: lab.Above(lab.Number(1))},
	},
}

func sizingParams(keys, trials, queries int) lab.Params {
	return lab.Params{lab.Int("keys", keys), lab.Floats("rates", 0.1, 0.01, 0.001), lab.Int("bits per key", 10), lab.Int("most hashes", 14), lab.Int("trials", trials), lab.Int("queries", queries)}
}

// The ways to come to the k positions.
const (
	seededWay  = "k seeds, Murmur3, mod m"
	murmurWay  = "one Murmur3, derived"
	derivedWay = "one XXH3, derived"
)

// textFilter is a filter of texts.
type textFilter struct {
	add func(key []byte)
	has func(key []byte) bool
}

// buildWay returns a filter that finds positions in some way, with seeds of its own.
func buildWay(way string, r *rand.Rand, s bloom.Shape) (textFilter, error) {
	h := filter.XXH3(r.Uint64())
	switch way {
	case seededWay:
		f := newSeeded(r, uint32(s.Bits), s.Hashes)
		return textFilter{f.insert, f.contains}, nil
	case murmurWay:
		h = filter.Murmur3(r.Uint64())
	}
	f, err := bloom.Build(s)
	return textFilter{
		func(key []byte) { _, _ = f.Add(h.Bytes(key)) }, // a Bloom filter is never full
		func(key []byte) bool { return f.MayContain(h.Bytes(key)) },
	}, err
}

// address returns a random IPv4 address as text, the keys of the Metflicks challenge.
// Present keys have the lowest bit clear, absent ones set.
func address(b []byte, r *rand.Rand, absent uint32) []byte {
	a := r.Uint32()&^1 | absent
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)}).AppendTo(b[:0])
}

// rateOf returns the share of absent keys that a filter says yes to.
func rateOf(way string, r *rand.Rand, s bloom.Shape, n, queries int) (float64, error) {
	f, err := buildWay(way, r, s)
	if err != nil {
		return 0, err
	}
	var key []byte
	for range n {
		key = address(key, r, 0)
		f.add(key)
	}
	yes := 0
	for range queries {
		key = address(key, r, 1)
		if f.has(key) {
			yes++
		}
	}
	return float64(yes) / float64(queries), nil
}

func runParams(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	sized, err := shapesOf(n, e.Floats("rates")...)
	if err != nil {
		return nil, err
	}
	measured := func(name string) []lab.Metric[float64] {
		return []lab.Metric[float64]{{Name: name, Unit: lab.InPercent, Of: func(rate float64) float64 { return rate }, Asked: lab.Each(queries)}}
	}
	ways := []string{seededWay, murmurWay, derivedWay}
	rates, err := lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "sizes", Title: "Filters sized by the rate, random IPv4 addresses as text", Dims: []lab.Dim{lab.Among("positions", ways...), lab.Along("asked P", e.Floats("rates")...)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (float64, error) {
			return rateOf(at.Name("positions"), r, sized[at.Float("asked P")], n, queries)
		},
		Metrics: measured("rate"),
		Formulas: []lab.Formula{
			{Name: "asked", Unit: lab.InPercent, Of: func(at lab.At) float64 { return at.Float("asked P") }},
			{Name: "P of that m and k", Unit: lab.InPercent, Of: func(at lab.At) float64 { s := sized[at.Float("asked P")]; return s.FPR(uint64(n)) }},
		},
		Notes: []string{"k is rounded to a whole number and m up, as every program must: that moves P by up to 3 % of itself."},
	})
	if err != nil {
		return nil, err
	}
	hashes := lab.Dim{Name: "k"}
	for k := range e.Int("most hashes") {
		hashes.Values = append(hashes.Values, float64(k+1))
	}
	m := uint64(e.Int("bits per key") * n)
	best, err := lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "hashes", Title: "Ten bits per key", Dims: []lab.Dim{hashes}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (float64, error) {
			return rateOf(derivedWay, r, bloom.Shape{Bits: m, Hashes: at.Int("k")}, n, queries)
		},
		Metrics:  measured("rate by hashes"),
		Formulas: []lab.Formula{{Name: "formula for P", Unit: lab.InPercent, Of: func(at lab.At) float64 { return theory.BloomFPR(float64(m), at.Float("k"), float64(n)) }}},
	})
	if err != nil {
		return nil, err
	}
	speed, err := querySpeed(ctx, e, ways)
	return &lab.Result{Grids: []*lab.Grid{rates, best, defaults(), modulo(), speed}}, err
}

// shapesOf returns the shapes for some rates.
func shapesOf(n int, rates ...float64) (map[float64]bloom.Shape, error) {
	shapes := map[float64]bloom.Shape{}
	for _, p := range rates {
		s, err := bloom.Config{Items: uint64(n), FPR: p}.Shape()
		if err != nil {
			return nil, err
		}
		shapes[p] = s
	}
	return shapes, nil
}

// defaults are what a Config without a rate gives.
func defaults() *lab.Grid {
	plain, _ := bloom.Config{Items: 1_000}.Shape() // zero if refused, which the claims see
	bits := math.Ceil(theory.BloomBits(1_000, 0.001))
	return lab.Computed("default", "The default for 1,000 keys", nil,
		lab.Fixed("default m", lab.Plain, float64(plain.Bits)), lab.Fixed("m of 0.001", lab.Plain, bits),
		lab.Fixed("default k", lab.Plain, float64(plain.Hashes)), lab.Fixed("k of 0.001", lab.Plain, math.Round(theory.BloomHashes(bits, 1_000))))
}

// querySpeed times queries, half of them of present keys.
func querySpeed(ctx context.Context, e *lab.Env, ways []string) (*lab.Grid, error) {
	const timed = 5_000
	return lab.Race{
		Name: "speed", Title: "Addresses of up to 15 bytes, k = 10", Contenders: ways, Rounds: 9,
		Start: func(_ lab.At, way string, r *rand.Rand) ([]lab.Lap, error) {
			f, err := buildWay(way, r, bloom.Shape{Bits: 14 * timed, Hashes: 10})
			keys := make([][]byte, timed)
			for i := range keys {
				keys[i] = address(nil, r, uint32(i&1))
				if i&1 == 0 && err == nil {
					f.add(keys[i])
				}
			}
			return []lab.Lap{asking("query", keys, f.has)}, err
		},
	}.Run(ctx, e)
}

// modulo computes what reducing a 32-bit hash modulo m does to the rate.
func modulo() *lab.Grid {
	g := lab.Computed("modulo", "Reducing a 32-bit hash modulo m, P = 0.001, computed", []lab.Dim{lab.Along("addresses", 1e3, 1e6, 1e7, 5e7, 1e8, 2e8, 2.9e8)},
		lab.Formula{Name: "rate to that of even positions", Of: func(at lab.At) float64 {
			keys := at.Float("addresses")
			s, err := bloom.Config{Items: uint64(keys)}.Shape()
			if err != nil {
				return math.NaN()
			}
			return moduloRate(s, keys) / s.FPR(uint64(keys))
		}})
	g.Notes = []string{"Above 2^32 bits, 298 million keys, 32-bit hashes do not reach all positions."}
	return g
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
