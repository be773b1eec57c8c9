package sum

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var seeds = lab.Experiment{
	ID:       "sum/seeds",
	Paper:    "[Sum]",
	Title:    "k random seeds, or one hash",
	Question: "Is the rate of a filter that hashes k times with random seeds the same as that of ours, which hashes once and derives the positions?",
	Says: "Implementation: the k hash functions must be independent and uniformly random; they are MurmurHash3 with k seeds from randint(0, 2147483647), " +
		"32 bits each, \"reduced by modulo m\". Approach: \"a Bloom Filter is only as fast as its hashing function\".",
	Quick: seedParams(1_000, 100, 2_000),
	Full:  seedParams(10_000, 500, 50_000),
	Run:   runSeeds,
}

func seedParams(keys, trials, queries int) lab.Params {
	return lab.Params{lab.Int("keys", keys), lab.Floats("rates", 0.1, 0.01, 0.001), lab.Int("trials", trials), lab.Int("queries", queries)}
}

// positions is one way to come to the k positions.
type positions struct {
	name  string
	build func(r *rand.Rand, s bloom.Shape) (add func(key []byte), has func(key []byte) bool, err error)
}

var ways = []positions{
	{"k seeds, Murmur3, mod m", func(r *rand.Rand, s bloom.Shape) (func([]byte), func([]byte) bool, error) {
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
	rates := e.Floats("rates")
	table := lab.Table{Name: "rates", Title: fmt.Sprintf("Rate of false positives with %d addresses", e.Int("keys")), Columns: []string{"asked P", "m", "k", "P of that m and k"}}
	plot := lab.Plot{
		Name: "rate", Title: "The rate to that of the formula", X: lab.Axis{Label: "asked P", Log: true, Percent: true}, Y: lab.Axis{Label: "measured / formula"},
	}
	for _, w := range ways {
		table.Columns = append(table.Columns, w.name)
		plot.Series = append(plot.Series, lab.Series{Name: w.name, Style: lab.LinePoints})
	}
	result := &lab.Result{Notes: []string{"Every trial draws new seeds. Keys are random IPv4 addresses as text."}}
	for i, p := range rates {
		shape, err := bloom.Config{Items: uint64(e.Int("keys")), FPR: p}.Shape()
		if err != nil {
			return nil, err
		}
		exact := shape.FPR(uint64(e.Int("keys")))
		row := []any{p, shape.Bits, shape.Hashes, exact}
		var found []lab.Estimate
		for j, w := range ways {
			e.Progress(i*len(ways)+j, len(rates)*len(ways)+1)
			rate, err := w.measure(ctx, e, shape)
			if err != nil {
				return nil, err
			}
			found = append(found, rate)
			row = append(row, rate)
			lo, hi := rate.Interval(2)
			plot.Series[j].Points = append(plot.Series[j].Points, lab.Point{X: p, Y: rate.Mean / exact, Lo: lo / exact, Hi: hi / exact})
			result.Checks = append(result.Checks, lab.Predicted(fmt.Sprintf("P = %v, %s", p, w.name), "P of m and k", exact, rate))
		}
		table.Add(row...)
		result.Checks = append(result.Checks, sameRate(p, found))
	}
	result.Tables = append(result.Tables, table, moduloTable())
	result.Plots = append(result.Plots, plot)
	e.Progress(len(rates)*len(ways), len(rates)*len(ways)+1)
	speed, check, err := hashSpeed(e)
	result.Tables, result.Checks = append(result.Tables, speed), append(result.Checks, check)
	return result, err
}

// measure returns the share of absent keys that filters say yes to.
func (w positions) measure(ctx context.Context, e *lab.Env, s bloom.Shape) (lab.Estimate, error) {
	rates, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (float64, error) {
		add, has, err := w.build(r, s)
		if err != nil {
			return 0, err
		}
		var key []byte
		for range e.Int("keys") {
			key = address(key, r, 0)
			add(key)
		}
		yes := 0
		for range e.Int("queries") {
			key = address(key, r, 1)
			if has(key) {
				yes++
			}
		}
		return float64(yes) / float64(e.Int("queries")), nil
	})
	return lab.Mean(rates), err
}

// sameRate compares all ways with the first, the paper's.
func sameRate(p float64, found []lab.Estimate) lab.Check {
	same, worst := true, 0.0
	for _, f := range found[1:] {
		d := math.Abs(f.Mean - found[0].Mean)
		same = same && d <= lab.Spread(f, found[0])
		worst = max(worst, d/found[0].Mean)
	}
	return lab.Holds(fmt.Sprintf("P = %v, one hash in place of k", p), fmt.Sprintf("the rate of k independent hashes: %s", found[0]),
		fmt.Sprintf("differs by at most %.1f %% of that", 100*worst), same, fmt.Sprintf("within %d standard errors of the difference", lab.Sigmas))
}

// moduloTable computes what reducing 32 bits modulo m does to the rate: some
// positions have one more hash value than others.
func moduloTable() lab.Table {
	t := lab.Table{
		Name: "modulo", Title: "Reducing a 32-bit hash modulo m, P = 0.001, computed",
		Columns: []string{"keys", "m", "hash values per position", "share with the larger number", "rate to that of even positions"},
		Notes:   []string{"Above 2^32 bits, 298 million keys, 32-bit hashes do not reach all positions. Our filters take the upper half of a 128-bit product."},
	}
	for _, n := range []float64{1e3, 1e6, 1e7, 5e7, 1e8, 2e8, 2.9e8} {
		s, err := bloom.Config{Items: uint64(n)}.Shape()
		if err != nil {
			continue
		}
		m := float64(s.Bits)
		low := math.Floor((1 << 32) / m)
		more := (1<<32)/m - low
		t.Add(fmt.Sprintf("%.0f", n), s.Bits, fmt.Sprintf("%.0f or %.0f", low, low+1), lab.Percent(more), moduloRate(s, n)/s.FPR(uint64(n)))
	}
	return t
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
