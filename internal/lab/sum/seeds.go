package sum

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var seeds = lab.Experiment{
	ID:       "sum/seeds",
	Paper:    paper,
	Title:    "k random seeds, or one hash",
	Question: "Is the rate of a filter that hashes k times with random seeds the same as that of ours, which hashes once and derives the positions?",
	Says: "Implementation: the k hash functions must be independent and uniformly random; they are MurmurHash3 with k seeds from randint(0, 2147483647), " +
		"32 bits each, \"reduced by modulo m\". Approach: \"a Bloom Filter is only as fast as its hashing function\".",
	Quick: seedParams(1_000, 100, 2_000),
	Full:  seedParams(10_000, 500, 50_000),
	Run:   runSeeds,
	Plots: []lab.View{
		{
			Name: "rate", Title: "The rate by the way to hash", X: "asked P", By: "positions", XAxis: lab.Axis{Label: "asked P", Log: true, Percent: true}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
			Curves: []lab.Curve{{Measured: "rate", Style: lab.Dots}, {Name: "asked", Formula: "asked", Once: true}},
		},
		{
			Name: "modulo-rate", Title: "A 32-bit hash modulo m: the rate to that of even positions, P = 0.001", X: "addresses", XAxis: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "times the rate"},
			Curves: []lab.Curve{{Formula: "rate to that of even positions"}},
		},
	},
	Claims: []lab.Claim{
		{Name: "rate of k seeds", Printed: "k independent hash functions have the rate P", Where: "Implementation", Of: lab.Of("rate", "positions", seededWay), Is: lab.Matches(lab.Of("P of that m and k"))},
		{Kind: lab.Own, Name: "rate of one hash in place of k", Printed: "that of k independent hashes", Of: lab.Of("rate"), Is: lab.Matches(lab.Of("rate", "positions", seededWay))},
		{Name: "reduced by modulo m", Printed: "uniformly random: taken as at most 1 % above the rate of even positions, up to 10 million keys", Where: "Implementation", Of: lab.Of("rate to that of even positions"), Is: lab.In(lab.Span{Dim: "addresses", To: 1e7}, lab.AtMost(lab.Number(1.01))), Show: []lab.Pick{lab.Of("rate to that of even positions", "addresses", 2e8)}},
		{Name: "time of a query, k hashes to one", Printed: "a Bloom Filter is only as fast as its hashing function", Where: "Approach", Of: lab.Of("query", lab.Contenders, seededWay).Over(lab.Of("query", lab.Contenders, "one XXH3, derived")), Is: lab.Above(lab.Number(1))},
		{Name: "hashes alone", Of: lab.Of("hash"), Is: lab.Shows()},
	},
}

const seededWay = "k seeds, Murmur3, mod m"

func seedParams(keys, trials, queries int) lab.Params {
	return lab.Params{lab.Int("keys", keys), lab.Floats("rates", 0.1, 0.01, 0.001), lab.Int("trials", trials), lab.Int("queries", queries)}
}

// positions is one way to come to the k positions.
type positions struct {
	name  string
	build func(r *rand.Rand, s bloom.Shape) (add func(key []byte), has func(key []byte) bool, err error)
}

var ways = []positions{
	{seededWay, func(r *rand.Rand, s bloom.Shape) (func([]byte), func([]byte) bool, error) {
		f := newSeeded(r, uint32(s.Bits), s.Hashes)
		return f.insert, f.contains, nil
	}},
	{"one Murmur3, derived", func(r *rand.Rand, s bloom.Shape) (func([]byte), func([]byte) bool, error) {
		return hashedOnce(filter.Murmur3(r.Uint64()), s)
	}},
	{"one XXH3, derived", func(r *rand.Rand, s bloom.Shape) (func([]byte), func([]byte) bool, error) {
		return hashedOnce(filter.XXH3(r.Uint64()), s)
	}},
}

// hashedOnce is our filter behind a hash.
func hashedOnce(h filter.Hash, s bloom.Shape) (add func([]byte), has func([]byte) bool, err error) {
	f, err := bloom.Build(s)
	if err != nil {
		return nil, nil, err
	}
	return func(key []byte) { _, _ = f.Add(h.Bytes(key)) }, // a Bloom filter is never full
		func(key []byte) bool { return f.MayContain(h.Bytes(key)) }, nil
}

// address appends a random IPv4 address as text, the keys of the Metflicks
// challenge. Members have the lowest bit clear, absent ones set.
func address(b []byte, r *rand.Rand, absent uint32) []byte {
	a := r.Uint32()&^1 | absent
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)}).AppendTo(b[:0])
}

func runSeeds(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	shapeOf := func(p float64) (bloom.Shape, error) { return bloom.Config{Items: uint64(n), FPR: p}.Shape() }
	e.Part(0, 2)
	rates, err := lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "rates", Title: "Rate of false positives with random IPv4 addresses as text, new seeds in every trial",
		Dims: []lab.Dim{lab.Among("positions", wayNames()...), lab.Along("asked P", e.Floats("rates")...)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (float64, error) {
			s, err := shapeOf(at.Float("asked P"))
			if err != nil {
				return 0, err
			}
			return ways[at.Int("positions")].rate(r, s, n, queries)
		},
		Metrics: []lab.Metric[float64]{{Name: "rate", Unit: lab.InPercent, Of: func(rate float64) float64 { return rate }, Asked: lab.Each(queries)}},
		Formulas: []lab.Formula{
			{Name: "asked", Unit: lab.InPercent, Of: func(at lab.At) float64 { return at.Float("asked P") }},
			{Name: "P of that m and k", Unit: lab.InPercent, Of: func(at lab.At) float64 {
				s, err := shapeOf(at.Float("asked P"))
				if err != nil {
					return math.NaN()
				}
				return s.FPR(uint64(n))
			}},
		},
	})
	if err != nil {
		return nil, err
	}
	e.Part(1, 2)
	speed, err := hashSpeed(ctx, e)
	modulo := lab.Computed("modulo", "Reducing a 32-bit hash modulo m, P = 0.001, computed", []lab.Dim{lab.Along("addresses", 1e3, 1e6, 1e7, 5e7, 1e8, 2e8, 2.9e8)},
		lab.Formula{Name: "rate to that of even positions", Of: func(at lab.At) float64 {
			keys := at.Float("addresses")
			s, err := bloom.Config{Items: uint64(keys)}.Shape()
			if err != nil {
				return math.NaN()
			}
			return moduloRate(s, keys) / s.FPR(uint64(keys))
		}})
	modulo.Notes = []string{"Above 2^32 bits, 298 million keys, 32-bit hashes do not reach all positions. Our filters take the upper half of a 128-bit product."}
	return &lab.Result{Grids: []*lab.Grid{rates, speed, modulo}}, err
}

func wayNames() (names []string) {
	for _, w := range ways {
		names = append(names, w.name)
	}
	return names
}

// rate returns the share of absent keys that a filter says yes to.
func (w positions) rate(r *rand.Rand, s bloom.Shape, n, queries int) (float64, error) {
	add, has, err := w.build(r, s)
	if err != nil {
		return 0, err
	}
	var key []byte
	for range n {
		key = address(key, r, 0)
		add(key)
	}
	yes := 0
	for range queries {
		key = address(key, r, 1)
		if has(key) {
			yes++
		}
	}
	return float64(yes) / float64(queries), nil
}

// hashSpeed times queries, half of them of present keys, with each way of hashing, and
// the hashes alone.
func hashSpeed(ctx context.Context, e *lab.Env) (*lab.Grid, error) {
	const timed = 5_000
	s, err := bloom.Config{Items: timed}.Shape()
	if err != nil {
		return nil, err
	}
	alone := map[string]func([]byte) uint64{
		"MD5":               func(k []byte) uint64 { d := md5.Sum(k); return binary.LittleEndian.Uint64(d[:]) },
		"Murmur3, 32 bits":  func(k []byte) uint64 { return uint64(murmur32(k, 1)) },
		"Murmur3, 128 bits": func(k []byte) uint64 { return uint64(filter.Murmur3(1).Bytes(k)) },
		"XXH3":              func(k []byte) uint64 { return uint64(filter.Hash{}.Bytes(k)) },
		"SipHash":           func(k []byte) uint64 { return uint64(filter.SipHash([16]byte{1}).Bytes(k)) },
	}
	return lab.Race{
		Name: "speed", Title: "Addresses of up to 15 bytes, k = 10", Contenders: append(wayNames(), "MD5", "Murmur3, 32 bits", "Murmur3, 128 bits", "XXH3", "SipHash"), Rounds: 9,
		Start: func(_ lab.At, contender string, r *rand.Rand) ([]lab.Lap, error) {
			keys := make([][]byte, timed)
			for i := range keys {
				keys[i] = address(nil, r, uint32(i&1))
			}
			if hash, ok := alone[contender]; ok {
				return []lab.Lap{asking("hash", keys, func(k []byte) bool { return hash(k)&1 == 0 })}, nil
			}
			w := ways[slices.Index(wayNames(), contender)]
			add, has, err := w.build(r, s)
			if err != nil {
				return nil, err
			}
			for i := 0; i < len(keys); i += 2 {
				add(keys[i])
			}
			return []lab.Lap{asking("query", keys, has)}, nil
		},
	}.Run(ctx, e)
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
