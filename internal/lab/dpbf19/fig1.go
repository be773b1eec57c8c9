package dpbf19

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var fig1 = lab.Experiment{
	ID:       "dpbf19/fig1",
	Paper:    paper,
	Title:    "Figure 1: the rate over six orders of magnitude",
	Question: "Does the partition filter keep 1e-4 for sets of every size, and how does the rate of a list of filters grow?",
	Says: "Figure 1: a threshold of 1e-4, set sizes over six orders of magnitude. \"DPBF holds its line while DBF shows a linear increase, dominating DPBF even for small sizes\"; " +
		"DBF exceeds the threshold even for smaller sets.",
	Quick: lab.Params{lab.Int("id bits", 20), lab.Int("doublings from 10 ids", 13), lab.Int("points per doubling", 4), lab.Int("sets", 8), lab.Int("queries", 2_000), lab.Int("units of a list to ask", 600_000)},
	Full:  lab.Params{lab.Int("id bits", 26), lab.Int("doublings from 10 ids", 20), lab.Int("points per doubling", 8), lab.Int("sets", 6), lab.Int("queries", 1_500_000), lab.Int("units of a list to ask", 40_000_000)},
	Run:   runFig1,
	Plots: []lab.View{{
		Name: "rate", Title: "Rate of false positives, from the set bits", X: "ids", By: "filter", XAxis: lab.Axis{Label: "ids in the set", Log: true}, Y: lab.Axis{Label: "false positives", Log: true},
		Curves: []lab.Curve{{Measured: "told", Style: lab.Dots}}, Marks: []lab.Mark{{X: 10, Y: target, Text: "threshold, 1e-4"}},
		Notes: []string{"What filters tell of themselves; the table has what was measured at every doubling. Rates below 1e-8 are left out."},
	}},
	Claims: []lab.Claim{
		{Name: "paper's layout, ids spread evenly", Printed: "DPBF holds its line: at most 1e-4", Where: "Fig. 1", Of: lab.Of("rate", "filter", papers), Is: lab.AtMost(lab.Number(target))},
		{Name: "paper's layout, by its set bits", Printed: "DPBF holds its line: at most 1e-4", Where: "Fig. 1", Of: lab.Of("told", "filter", papers), Is: lab.AtMost(lab.Number(target))},
		{Kind: lab.Own, Name: "ids in the map, spread evenly", Printed: "at most the rate asked for, at every size", Of: lab.Of("told", "filter", ours), Is: lab.AtMost(lab.Number(target))},
		{Name: "DBF increases", Printed: "DBF shows a linear increase", Where: "Fig. 1", Of: lab.Of("told", "filter", dbf), Is: lab.Rises("ids")},
		{Name: "DBF against as many full units", Printed: "linear increase: the rates of its full units add up", Where: "Fig. 1, App. A", Of: lab.Of("rate", "filter", dbf), Is: lab.AtLeast(lab.Of("full units"))},
		{Name: "DBF against all of its units", Printed: "linear increase: the rates of its units add up", Where: "Fig. 1, App. A", Of: lab.Of("rate", "filter", dbf), Is: lab.AtMost(lab.Of("all units full"))},
		{Name: "α < 1: rates", Printed: "both are one unit with equal FPR", Where: "App. A, proof", Of: lab.Of("told", "filter", papers), Is: lab.In(lab.Span{Dim: "ids", To: 700}, lab.Matches(lab.Of("told", "filter", dbf)))},
		{Name: "DBF from 3,000 ids on", Printed: "DBF exceeds the threshold even for smaller sets", Where: "Fig. 1", Of: lab.Of("told", "filter", dbf), Is: lab.In(lab.Span{Dim: "ids", From: 3_000}, lab.Above(lab.Number(target)))},
	},
}

// rated is what a filter was found to have.
type rated struct{ rate, told float64 }

func runFig1(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	width := e.Int("id bits") // with 26 the paper's map has up to 65,536 units of 2.5 KB
	shape, err := asPrinted(width)
	if err != nil {
		return nil, err
	}
	sizes, per := lab.Dim{Name: "ids"}, e.Int("points per doubling")
	for i := range e.Int("doublings from 10 ids")*per + 1 {
		if n := math.Round(10 * math.Exp2(float64(i)/float64(per))); i == 0 || n > sizes.Values[len(sizes.Values)-1] {
			sizes.Values = append(sizes.Values, n)
		}
	}
	// Lists have more to tell if they are short, and take long if they are not.
	asked := func(name string, n uint64) uint64 {
		queries := uint64(e.Int("queries"))
		if name == dbf {
			queries = min(10*queries, uint64(e.Int("units of a list to ask"))/(n/1000+1))
		}
		return queries
	}
	m, k := float64(shape.UnitBits), float64(shape.Hashes)
	units := func(at lab.At) float64 { return at.Float("ids") / theory.DynamicCapacity(m, k, target) }
	// A unit counts as full with up to k-1 bits less than the rate allows.
	full := func(at lab.At) float64 {
		return theory.DynamicFPRBound(math.Pow((float64(shape.Full)-k+1)/m, k), units(at))
	}
	all := func(at lab.At) float64 {
		return theory.DynamicFPRBound(math.Pow(float64(shape.Full)/m, k), 1.01*units(at)+2)
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[rated]{
		Name: "sizes", Title: "False positives, units for 1,024 ids", Dims: []lab.Dim{lab.Among("filter", ours, papers, dbf)}, Trace: sizes, Trials: e.Int("sets"),
		Follow: func(at lab.At, r *rand.Rand) ([]rated, error) {
			name := at.Name("filter")
			return grow(ctx, name, width, evenly(width, r.Uint32()), sizes.Values, per, func(n uint64) uint64 { return asked(name, n) })
		},
		Metrics: []lab.Metric[rated]{
			{Name: "rate", Of: func(r rated) float64 { return r.rate }, Asked: func(at lab.At) int { return int(asked(at.Name("filter"), uint64(at.Int("ids")))) }},
			{Name: "told", Of: func(r rated) float64 { return r.told }},
		},
		Formulas: []lab.Formula{{Name: "full units", Of: full}, {Name: "all units full", Of: all}},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"The paper gives neither its universe nor its data. Here: ids of 26 bits, of 20 in quick runs, units for 1,024 of them in all filters.",
	}}, err
}

// leastTold is where rates of nearly empty filters are cut off.
const leastTold = 1e-8

// grow adds ids up to each size. At every one of so many it asks for as many absent ids
// as there are questions.
func grow(ctx context.Context, name string, width int, p population, sizes []float64, every int, questions func(n uint64) uint64) ([]rated, error) {
	f, err := build(name, width, 0)
	var out []rated
	added := uint64(0)
	for i, size := range sizes {
		n := uint64(size)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		err = p.fill(name, f, added, n)
		added = n
		found := rated{math.NaN(), f.Info().FPR}
		if found.told < leastTold {
			found.told = math.NaN()
		}
		if (len(sizes)-1-i)%every == 0 {
			found.rate = share(name, f, p, n, questions(n))
		}
		out = append(out, found)
	}
	return out, err
}

// share asks for absent ids.
func share(name string, f filter.Filter, p population, n, questions uint64) float64 {
	yes := 0.0
	for i := range questions {
		if f.MayContain(keyFor(name, p.absent(n, i))) {
			yes++
		}
	}
	return yes / float64(questions)
}
