package dpbf19

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var merges = lab.Experiment{
	ID:       "dpbf19/merges",
	Paper:    paper,
	Title:    "Unions and intersections of sets of all sizes",
	Question: "Does the rate stay bounded through many unions and intersections of sets of different sizes, where that of a plain filter does not?",
	Says: "Abstract: DPBF is superior to standard Bloom filters because it can efficiently handle a large number of unions and intersections of sets of different sizes " +
		"while controlling the false positive rate. No number is printed.",
	Quick: lab.Params{lab.Int("chains", 16), lab.Int("merges in each", 12), lab.Int("id bits", 16), lab.Int("queries after each", 10_000)},
	Full:  lab.Params{lab.Int("chains", 20), lab.Int("merges in each", 50), lab.Int("id bits", 22), lab.Int("queries after each", 100_000)},
	Run:   runMerges,
	Plots: []lab.View{{
		Name: "rates", Title: "Rate of the results so far", X: "merge", By: "filter", Y: lab.Axis{Label: "false positives", Log: true}, Curves: []lab.Curve{{Measured: "rate so far"}}, Marks: []lab.Mark{{X: 1, Y: target, Text: "threshold, 1e-4"}},
	}},
	Claims: []lab.Claim{
		{Name: "rate of the paper's layout", Printed: "controlling the false positive rate", Where: "Abstract", Of: lab.Of("rate so far", "filter", papers), Is: lab.AtMost(lab.Number(target))},
		{Name: "results of the paper's layout above 1e-4 by their set bits", Printed: "controlling the false positive rate", Where: "Abstract", Of: lab.Of("above", "filter", papers), Is: lab.Zero()},
		{Name: "rate of a plain filter", Printed: "superior to standard Bloom filters", Where: "Abstract", Of: lab.Of("rate so far", "filter", plain), Is: lab.In(lab.Span{Dim: "merge", From: 10}, lab.Above(lab.Of("rate so far", "filter", papers)))},
		{Name: "no key is denied", Printed: "no false negatives", Of: lab.Of("denied"), Is: lab.Zero()},
		{Kind: lab.Own, Name: "rate with ids in the map", Printed: "at most the rate asked for", Of: lab.Of("rate so far", "filter", ours), Is: lab.AtMost(lab.Number(target))},
		{Kind: lab.Own, Name: "results with ids in the map above 1e-4 by their set bits", Printed: "at most the rate asked for", Of: lab.Of("above", "filter", ours), Is: lab.Zero()},
		{Kind: lab.Own, Name: "results with ids in the map that miscount", Printed: "the result is the filter that the united or common keys would have given", Of: lab.Of("miscounted", "filter", ours), Is: lab.Zero()},
	},
}

// merged is what a chain was found to be after a merge.
type merged struct {
	rate       float64 // so far
	above      float64 // 1 if the result tells a rate above the threshold of itself
	denied     float64
	miscounted float64
}

func runMerges(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	width, queries, steps := e.Int("id bits"), e.Int("queries after each"), lab.Dim{Name: "merge"}
	for i := range e.Int("merges in each") {
		steps.Values = append(steps.Values, float64(i+1))
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[merged]{
		Name: "merges", Title: "Chains of merges", Dims: []lab.Dim{lab.Among("filter", ours, papers, plain)}, Trace: steps, Trials: e.Int("chains"),
		Follow: func(at lab.At, r *rand.Rand) ([]merged, error) {
			c := chain{name: at.Name("filter"), r: r, seed: r.Uint32(), width: width}
			return c.run(ctx, len(steps.Values), queries)
		},
		Metrics: []lab.Metric[merged]{
			{Name: "rate so far", Of: func(m merged) float64 { return m.rate }, Asked: func(at lab.At) int { return queries * at.Int("merge") }},
			{Name: "above", Of: func(m merged) float64 { return m.above }},
			{Name: "denied", Of: func(m merged) float64 { return m.denied }},
			{Name: "miscounted", Of: func(m merged) float64 { return m.miscounted }},
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"Sets have from 10 ids to a sixteenth of the universe, sizes of all magnitudes alike, those that are intersected with a quarter of that at least. Two merges of three are unions; a set that became small or large is replaced by a new one. " +
			"Each result is asked about ids of other sets and about any others. The plain filter is sized for a set in the middle and merged by OR and AND.",
	}}, err
}

// smallest is the least number of ids of a new set.
const smallest = 10.0

// A chain merges sets at random. A set is a filter, and exactly a bitmap of numbers,
// each of which stands for an id.
type chain struct {
	name  string
	r     *rand.Rand
	seed  uint32
	width int
}

type collection struct {
	filter.Filter
	numbers []uint64
}

// all is how many numbers there are; twice as many ids are asked for.
func (c chain) all() uint64 { return 1 << (c.width - 3) }

func (c chain) key(number uint64) filter.Key { return keyFor(c.name, permute(number, c.width, c.seed)) }

// random returns a set of so many ids up to half of all, sizes of all magnitudes
// alike: numbers that follow each other, so that sets overlap.
func (c chain) random(least float64) (s collection, err error) {
	most := float64(c.all()) / 2
	if s.Filter, err = build(c.name, c.width, uint64(math.Sqrt(smallest*most))); err != nil {
		return s, err
	}
	s.numbers = make([]uint64, c.all()/64)
	from := c.r.Uint64N(c.all())
	for i := range uint64(least * math.Pow(most/least, c.r.Float64())) {
		x := (from + i) % c.all()
		s.numbers[x/64] |= 1 << (x % 64)
		if _, err := s.Add(c.key(x)); err != nil {
			return s, err
		}
	}
	return s, nil
}

// run does so many merges.
func (c chain) run(ctx context.Context, merges, queries int) (out []merged, err error) {
	set, err := c.random(smallest)
	yes := 0
	for i := range merges {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		union, least := c.r.IntN(3) > 0, smallest
		if !union { // with a small set there would be nothing in common
			least = float64(c.all()) / 8
		}
		other, err := c.random(least)
		if err == nil {
			err = set.merge(other, union)
		}
		if err != nil {
			return nil, err
		}
		m := c.examine(set)
		yes += c.ask(set, queries)
		m.rate = float64(yes) / float64(queries*(i+1))
		out = append(out, m)
		if n := set.len(); n < c.r.Uint64N(1_000) || n > c.all()/2 {
			if set, err = c.random(smallest); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// merge changes s.
func (s *collection) merge(other collection, union bool) error {
	for w, x := range other.numbers {
		if union {
			s.numbers[w] |= x
		} else {
			s.numbers[w] &= x
		}
	}
	if union {
		return s.Filter.(filter.Merger).Union(other.Filter)
	}
	return s.Filter.(filter.Merger).Intersect(other.Filter)
}

func (s *collection) len() (n uint64) {
	for _, x := range s.numbers {
		n += uint64(bits.OnesCount64(x))
	}
	return n
}

// examine compares a result with the exact set.
func (c chain) examine(s collection) merged {
	info := s.Info()
	m := merged{miscounted: math.NaN(), above: lab.OneIf(info.FPR > target)}
	for w, x := range s.numbers {
		for ; x != 0; x &= x - 1 {
			m.denied += lab.OneIf(!s.MayContain(c.key(uint64(64*w + bits.TrailingZeros64(x)))))
		}
	}
	if c.name == ours {
		m.miscounted = math.Abs(float64(info.Keys) - float64(s.len()))
	}
	return m
}

// ask asks for ids that are not in the set: those that others have, if one is found
// at once, and any others.
func (c chain) ask(s collection, queries int) (yes int) {
	for range queries {
		number := c.r.Uint64N(2 * c.all())
		if number < c.all() && s.numbers[number/64]>>(number%64)&1 == 1 {
			number += c.all()
		}
		if s.MayContain(c.key(number)) {
			yes++
		}
	}
	return yes
}
