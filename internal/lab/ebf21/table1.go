package ebf21

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
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
	queries      int     // of each of the following
	before, lazy int     // false positives: just before, and just after, nothing being moved yet
	after        int     // and when everything is
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
	yes := func() int { return countYes(f, r, queries) }
	for n := 1; len(seen) < expansions; n++ {
		due := f.Unsplit() == 0 && f.Info().Fill > tableThreshold-float64(tableHashes)/float64(f.Bits())
		now := expansion{keys: n, fill: f.Info().Fill, queries: queries}
		if due { // the next key may be the one
			now.before = yes()
		}
		bits := f.Bits()
		if _, err := f.Add(filter.Key(r.Uint64())); err != nil {
			return nil, err
		}
		if f.Bits() == bits {
			continue
		}
		now.lazy = yes()
		f.FinishResize()
		now.after = yes()
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

// A moment is when the rate is measured around an expansion.
type moment struct {
	name  string
	style lab.Style // the first two lie on each other: one is a line
	of    func(expansion) int
}

var (
	before  = moment{"before", lab.Dashed, func(x expansion) int { return x.before }}
	lazily  = moment{"just after, nothing moved", lab.Dots, func(x expansion) int { return x.lazy }}
	settled = moment{"all moved", lab.Dots, func(x expansion) int { return x.after }}
)

var expansionMoments = []moment{before, lazily, settled}

// pooled counts the yeses at the i-th expansion over all trials: there are few in
// each.
func (m moment) pooled(trials [][]expansion, i int) sampled {
	var s sampled
	rates := make([]float64, len(trials))
	for j, seen := range trials {
		s.yes, s.queries = s.yes+m.of(seen[i]), s.queries+seen[i].queries
		rates[j] = float64(m.of(seen[i])) / float64(max(seen[i].queries, 1))
	}
	s.rate = lab.Mean(rates)
	return s
}

func expansionRates(size int, trials [][]expansion) lab.Plot {
	p := lab.Plot{
		Name: "rates", Title: "The rate at every expansion",
		X: lab.Axis{Label: "expansion, by the size before in bits"}, Y: lab.Axis{Label: "false positives", Log: true, Percent: true},
	}
	for i := range trials[0] {
		p.X.Names = append(p.X.Names, fmt.Sprintf("2^%d", size+i))
	}
	for _, m := range expansionMoments {
		s := lab.Series{Name: m.name, Style: m.style}
		for i := range trials[0] {
			if pt, ok := m.pooled(trials, i).point(float64(i)); ok {
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
			row = append(row, m.pooled(trials, i).rate.String())
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
		if settled.pooled(trials, i).below(before.pooled(trials, i)) {
			falls++
		}
	}
	old, grown := before.pooled(trials, 0), settled.pooled(trials, 0)
	half := 1 - math.Sqrt(1-tableThreshold) // the same keys in twice the bits
	return []lab.Check{
		lab.Holds("expansions that lower the rate", "Abstract: \"when EBF expands, the false positives decrease\"", fmt.Sprintf("%d of %d", falls, len(trials[0])),
			falls == len(trials[0]), fmt.Sprintf("all, each by more than %d standard errors", lab.Sigmas)),
		lab.Predicted("keys at the first expansion", "Sec. 3.2.4 and 4.1: -(m/k) ln(1 - Ω)", fullKeys(size), column(trials, 0, func(x expansion) float64 { return float64(x.keys) })),
		lab.PredictedRate("rate before the first expansion", "Sec. 3.2.4: Δ = Ω^k", tableRate, old.yes, old.queries),
		lab.PredictedRate("rate after the first expansion", "Sec. 4.1 at twice the bits: (1 - (1 - Ω)^(1/2))^k", math.Pow(half, tableHashes), grown.yes, grown.queries),
		lab.Holds("the lazy update answers at once, at the rate of before", "Sec. 3.3.1: \"the query can be performed right away\"",
			lazily.pooled(trials, 0).rate.String()+" just after the first expansion", lazyAgrees(trials), "the rate of before, "+howCompared),
		parametersCheck(tableShape(tableSize, 0)),
		lab.Show("Δ of Table 1", lab.Digits(tableRate, 3)),
	}
}

// parametersCheck is Table 1 itself: filter/elastic takes all of it in one shape.
func parametersCheck(s elastic.Shape) lab.Check {
	f, err := elastic.Build(s)
	if err != nil {
		return lab.Holds("parameters of Table 1", "a filter", err.Error(), false, "it can be built")
	}
	s = f.Shape()
	text := func(hashes, slots, size, branches int, threshold float64) string {
		return fmt.Sprintf("k = %d, D = %d, m = 2^%d, %d branches, Ω = %v", hashes, slots, size, branches, threshold)
	}
	printed := text(5, 8, 15, 3, 0.2)
	ours := text(s.Hashes, s.Slots, int(math.Log2(float64(f.Bits()))), s.Branches, s.Threshold)
	return lab.Holds("parameters of Table 1", printed, ours, ours == printed, "all the same, by the filter's own account")
}

// lazyAgrees reports whether the copied bits have the rate of before.
func lazyAgrees(trials [][]expansion) bool {
	for i := range trials[0] {
		old, now := before.pooled(trials, i), lazily.pooled(trials, i)
		if !old.atMost(now) || !now.atMost(old) {
			return false
		}
	}
	return true
}
