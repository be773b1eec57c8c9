package dpbf19

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var merges = lab.Experiment{
	ID:       "dpbf19/merges",
	Title:    "Unions and intersections of sets of all sizes",
	Question: "Does the rate stay bounded through many unions and intersections of sets of different sizes, where that of a plain filter does not?",
	Says: "Abstract: DPBF is superior to standard Bloom filters because it can efficiently handle a large number of unions and intersections of sets of different sizes " +
		"while controlling the false positive rate. No number is printed.",
	Params: lab.Params{lab.Int("chains", 16).Full(20), lab.Int("merges in each", 12).Full(50), lab.Int("id bits", 16).Full(22), lab.Int("queries after each", 10_000).Full(100_000)},
	Run:    runMerges,
	Plots: []lab.View{{
		Name: "rates", Title: "Rate of the results so far", X: "merge", By: "filter", Y: lab.Axis{Label: "false positives", Log: true}, Curves: []lab.Curve{{Measured: "rate so far"}}, Marks: []lab.Mark{{X: 1, Y: target, Text: "threshold, 1e-4"}},
	}},
	Claims: []lab.Claim{
		{Name: "rate of DPBF", Printed: "controlling the false positive rate", Where: "Abstract", Of: lab.Of("rate so far", "filter", dpbf), Is: lab.AtMost(lab.Number(target))},
		{Name: "results of DPBF above 1e-4 by their set bits", Printed: "controlling the false positive rate", Where: "Abstract", Of: lab.Of("above", "filter", dpbf), Is: lab.Zero()},
		{Name: "rate of a plain filter", Printed: "superior to standard Bloom filters", Where: "Abstract", Of: lab.Of("rate so far", "filter", plain), Is: lab.In(lab.Span{Dim: "merge", From: 10}, lab.Above(lab.Of("rate so far", "filter", dpbf)))},
		{Name: "no key is denied", Printed: "no false negatives", Of: lab.Of("denied"), Is: lab.Zero()},
	},
}

func runMerges(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	width, queries, merges := e.Int("id bits"), e.Int("queries after each"), e.Int("merges in each")
	return lab.Find(ctx, e, lab.Sweep{
		Name: "merges", Title: "Chains of merges", Dims: []lab.Dim{lab.Among("filter", dpbf, plain)}, Trace: lab.Count("merge", 1, merges), Trials: e.Int("chains"),
		Follow: func(at lab.At, r *rand.Rand) ([]lab.Figures, error) {
			c := chain{name: at.Name("filter"), r: r, ids: evenly(width, r.Uint32()), width: width, all: 1 << (width - 3)}
			return c.run(ctx, merges, queries)
		},
		Metrics: []lab.Metric{{Name: "rate so far", Asked: func(at lab.At) int { return queries * at.Int("merge") }}, {Name: "above"}, {Name: "denied"}},
	}, lab.Notes{
		"Sets have from 10 ids to a sixteenth of the universe, sizes of all magnitudes alike, those that are intersected with a quarter of that at least. Two merges of three are unions; a set that became small or large is replaced by a new one. " +
			"Each result is asked about ids of other sets and about any others. The plain filter is sized for a set in the middle and merged by OR and AND.",
	})
}

// smallest is the least number of ids of a new set.
const smallest = 10.0

// A chain merges sets at random. Sets are of the first ids, up to half of all of them;
// as many more are asked about.
type chain struct {
	name  string
	r     *rand.Rand
	ids   ids
	width int
	all   int
}

// collection is a filter, with exactly the numbers of its ids.
type collection struct {
	filter.Filter
	has  []bool
	size int
}

// random returns a set of least ids or more, sizes of all magnitudes alike: ids whose
// numbers follow each other, so that sets overlap.
func (c chain) random(least float64) (s collection, err error) {
	most := float64(c.all) / 2
	if s.Filter, err = build(c.name, c.width, uint64(math.Sqrt(smallest*most))); err != nil {
		return s, err
	}
	s.has, s.size = make([]bool, c.all), int(least*math.Pow(most/least, c.r.Float64()))
	from := c.r.IntN(c.all)
	for i := range s.size {
		x := (from + i) % c.all
		s.has[x] = true
		if _, err := s.Add(c.ids(uint64(x))); err != nil {
			return s, err
		}
	}
	return s, nil
}

// run does so many merges.
func (c chain) run(ctx context.Context, merges, queries int) (out []lab.Figures, err error) {
	set, err := c.random(smallest)
	for i := 0; i < merges && err == nil; i++ {
		union, least := c.r.IntN(3) > 0, smallest
		if !union { // with a small set there would be nothing in common
			least = float64(c.all) / 8
		}
		var other collection
		if other, err = c.random(least); err != nil {
			break
		}
		err = errors.Join(set.merge(other, union), ctx.Err())
		m := c.examine(set, queries)
		if i > 0 {
			m["rate so far"] += (out[i-1]["rate so far"] - m["rate so far"]) * float64(i) / float64(i+1)
		}
		out = append(out, m)
		if err == nil && (set.size < c.r.IntN(1_000) || set.size > c.all/2) {
			set, err = c.random(smallest)
		}
	}
	return out, err
}

// merge changes s.
func (s *collection) merge(other collection, union bool) error {
	s.size = 0
	for i, has := range other.has {
		s.has[i] = s.has[i] && has || union && (s.has[i] || has)
		if s.has[i] {
			s.size++
		}
	}
	if union {
		return s.Filter.(filter.Merger).Union(other.Filter)
	}
	return s.Filter.(filter.Merger).Intersect(other.Filter)
}

// examine asks about all ids of a set, and about others: those that other sets have, if
// one is found at once, and any. It may tell a rate above the threshold of itself.
func (c chain) examine(s collection, queries int) lab.Figures {
	denied, rate := 0.0, 0.0
	for i, has := range s.has {
		denied += lab.OneIf(has && !s.MayContain(c.ids(uint64(i))))
	}
	for range queries {
		number := c.r.IntN(2 * c.all)
		if number < c.all && s.has[number] {
			number += c.all
		}
		rate += lab.OneIf(s.MayContain(c.ids(uint64(number)))) / float64(queries)
	}
	return lab.Figures{"rate so far": rate, "denied": denied, "above": lab.OneIf(s.Info().FPR > target)}
}
