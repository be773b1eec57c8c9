package ebf21

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/lab"
)

var table1 = lab.Experiment{
	ID:       "ebf21/table1",
	Paper:    "[EBF21]",
	Title:    "Table 1's defaults: what an expansion does to the rate",
	Question: "When does a filter with the paper's default parameters expand, and do the false positives decrease by it?",
	Says: "Table 1: 5 hashes, buckets of 8, 2^15 bits, bucket tree with 3 branches, Distinct Stream, threshold 0.2. Abstract: \"Importantly, when EBF expands, the false " +
		"positives decrease.\" Sec. 3.2.4: it expands when the set-bit rate is above Ω, that is the rate above Δ = Ω^k.",
	Quick: lab.Params{lab.Int("initial size, log2", tableSize), lab.Int("expansions", 3), lab.Int("trials", 8), lab.Int("queries", 100_000)},
	Full:  lab.Params{lab.Int("initial size, log2", tableSize), lab.Int("expansions", 7), lab.Int("trials", 20), lab.Int("queries", 1_000_000)},
	Run:   runTable1,
}

// an expansion, as one trial saw it.
type expansion struct {
	keys         int     // with which it came
	fill         float64 // share of set bits just before
	before, lazy float64 // rates: just before, and just after, nothing being moved yet
	after        float64 // and when everything is
}

func runTable1(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	size := e.Int("initial size, log2")
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) ([]expansion, error) {
		return watchExpansions(r, size, e.Int("expansions"), e.Int("queries"))
	})
	if err != nil {
		return nil, err
	}
	return &lab.Result{
		Plots:  []lab.Plot{expansionRates(size, trials)},
		Tables: []lab.Table{table1Defaults(), expansionKeys(size, trials)},
		Checks: table1Checks(size, trials),
		Notes:  []string{"Distinct Stream. With the lazy update the rate falls as trees are settled; the three rates are measured just before an expansion, just after it, and when all is settled."},
	}, nil
}

// watchExpansions fills a filter and measures its rate around every expansion.
func watchExpansions(r *rand.Rand, size, expansions, queries int) ([]expansion, error) {
	f, err := elastic.Build(tableShape(size, r.Uint64()))
	if err != nil {
		return nil, err
	}
	var seen []expansion
	rate := func() float64 { return float64(countYes(f, r, queries)) / float64(queries) }
	for n := 1; len(seen) < expansions; n++ {
		due := f.Unsettled() == 0 && f.Info().Fill > tableThreshold-float64(tableHashes)/float64(f.Bits())
		now := expansion{keys: n, fill: f.Info().Fill}
		if due { // the next key may be the one
			now.before = rate()
		}
		bits := f.Bits()
		if _, err := f.Add(filter.Key(r.Uint64())); err != nil {
			return nil, err
		}
		if f.Bits() == bits {
			continue
		}
		now.lazy = rate()
		f.Settle()
		now.after = rate()
		seen = append(seen, now)
	}
	return seen, nil
}

// column collects one figure of the i-th expansion over the trials.
func column(trials [][]expansion, i int, of func(expansion) float64) lab.Estimate {
	values := make([]float64, len(trials))
	for j, seen := range trials {
		values[j] = of(seen[i])
	}
	return lab.Mean(values)
}

var expansionMoments = []struct {
	name string
	of   func(expansion) float64
}{
	{"before", func(x expansion) float64 { return x.before }},
	{"just after, nothing moved", func(x expansion) float64 { return x.lazy }},
	{"all moved", func(x expansion) float64 { return x.after }},
}

func expansionRates(size int, trials [][]expansion) lab.Plot {
	p := lab.Plot{
		Name: "rates", Title: "The rate at every expansion",
		X: lab.Axis{Label: "expansion, by the log2 of the size before"}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
	}
	for _, m := range expansionMoments {
		s := lab.Series{Name: m.name, Style: lab.Dots}
		for i := range trials[0] {
			if pt := column(trials, i, m.of).At(float64(size + i)); pt.Y > 0 {
				s.Points = append(s.Points, pt)
			}
		}
		if len(s.Points) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	return p
}

func table1Defaults() lab.Table {
	s := tableShape(tableSize, 0)
	t := lab.Table{Name: "defaults", Title: "Table 1 as a shape of filter/elastic", Columns: []string{"Table 1", "printed", "ours"}}
	t.Add("Hashnum", 5, fmt.Sprintf("Hashes %d", s.Hashes))
	t.Add("Bucket size", 8, fmt.Sprintf("Slots %d", s.Slots))
	t.Add("BF size (2^k)", 15, fmt.Sprintf("Bits %d", s.Bits))
	t.Add("W/WO Bucket tree", "W", fmt.Sprintf("Branches %d, above 1", s.Branches))
	t.Add("Branches", 3, fmt.Sprintf("Branches %d", s.Branches))
	t.Add("Dataset", "Distinct Stream", "random keys")
	t.Add("Expanding threshold", 0.2, fmt.Sprintf("Threshold %v", s.Threshold))
	t.Add("w (Sec. 4.3)", 32, fmt.Sprintf("HashBits %d", s.HashBits))
	return t
}

func expansionKeys(size int, trials [][]expansion) lab.Table {
	t := lab.Table{Name: "expansions", Title: "Expansions", Columns: []string{"from log2", "keys", "-(m/k) ln(1 - Ω)", "set-bit rate", "rate before", "just after", "all moved"}}
	for i := range trials[0] {
		row := []any{
			size + i, column(trials, i, func(x expansion) float64 { return float64(x.keys) }).String(), math.Round(fullKeys(size + i)),
			column(trials, i, func(x expansion) float64 { return x.fill }),
		}
		for _, m := range expansionMoments {
			row = append(row, column(trials, i, m.of).String())
		}
		row[3] = row[3].(lab.Estimate).String()
		t.Add(row...)
	}
	return t
}

// table1Checks judges the claims at every expansion, and the numbers at the first.
func table1Checks(size int, trials [][]expansion) []lab.Check {
	falls := 0
	for i := range trials[0] {
		before, after := column(trials, i, expansionMoments[0].of), column(trials, i, expansionMoments[2].of)
		if before.Mean-after.Mean > lab.Spread(before, after) {
			falls++
		}
	}
	before, after := column(trials, 0, expansionMoments[0].of), column(trials, 0, expansionMoments[2].of)
	half := 1 - math.Sqrt(1-tableThreshold) // the same keys in twice the bits
	return []lab.Check{
		lab.Holds("expansions that lower the rate", "Abstract: \"when EBF expands, the false positives decrease\"", fmt.Sprintf("%d of %d", falls, len(trials[0])),
			falls == len(trials[0]), fmt.Sprintf("all, each by more than %d standard errors", lab.Sigmas)),
		lab.Predicted("keys at the first expansion", "Sec. 3.2.4 and 4.1: -(m/k) ln(1 - Ω)", fullKeys(size), column(trials, 0, func(x expansion) float64 { return float64(x.keys) })),
		lab.Predicted("rate before the first expansion", "Sec. 3.2.4: Δ = Ω^k", tableRate, before),
		lab.Predicted("rate after the first expansion", "Sec. 4.1 at twice the bits: (1 - (1 - Ω)^(1/2))^k", math.Pow(half, tableHashes), after),
		lab.Holds("the lazy update answers at once, at the rate of before", "Sec. 3.3.1: \"the query can be performed right away\"",
			column(trials, 0, expansionMoments[1].of).String()+" just after the first expansion", lazyAgrees(trials), "the rate of before, "+howCompared),
		lab.Show("Δ of Table 1", lab.Digits(tableRate, 3)),
	}
}

// lazyAgrees reports whether the copied bits have the rate of before.
func lazyAgrees(trials [][]expansion) bool {
	for i := range trials[0] {
		before, lazy := column(trials, i, expansionMoments[0].of), column(trials, i, expansionMoments[1].of)
		if math.Abs(before.Mean-lazy.Mean) > lab.Spread(before, lazy) {
			return false
		}
	}
	return true
}
