package dpbf19

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/partition"
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
	Quick: lab.Params{
		lab.Ints("sizes", 10, 100, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000), lab.Int("sets", 2), lab.Int("queries", 250_000), lab.Int("units of a list to ask", 10_000_000),
	},
	Full: lab.Params{
		lab.Ints("sizes", 10, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000), lab.Int("sets", 6), lab.Int("queries", 4_000_000), lab.Int("units of a list to ask", 400_000_000),
	},
	Run: runFig1,
}

// rates is what one set was found to have.
type rates struct {
	spread, near answers // of the partition filter: evenly spread ids, and runs
	listed       answers // of the list
	units        int
}

// answers of a filter about absent ids.
type answers struct {
	yes, queries int
	told         float64 // what the filter says about itself
}

func (a *answers) add(b answers) {
	a.yes, a.queries, a.told = a.yes+b.yes, a.queries+b.queries, a.told+b.told
}

func runFig1(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	shape, err := wish.Shape()
	if err != nil {
		return nil, err
	}
	sizes := e.Ints("sizes")
	fig := newFigure1(list(shape))
	for i, n := range sizes {
		e.Progress(i, len(sizes))
		sets, err := lab.TryTrials(ctx, e, e.Int("sets"), func(_ int, r *rand.Rand) (rates, error) {
			return oneSize(uint64(n), e.Int("queries"), e.Int("units of a list to ask"), r)
		})
		if err != nil {
			return nil, err
		}
		fig.add(n, sets)
	}
	return fig.result(), nil
}

// oneSize builds all filters for n ids and asks them.
func oneSize(n uint64, queries, asked int, r *rand.Rand) (out rates, err error) {
	for _, p := range []struct {
		population
		to *answers
	}{{evenly(r.Uint32()), &out.spread}, {runs(r.Uint32()), &out.near}} {
		f, err := partition.New(wish)
		if err != nil {
			return out, err
		}
		if err := p.fill(f, n); err != nil {
			return out, err
		}
		// No id is asked for twice: its answer would be the same.
		different := min(uint64(queries), p.absentees(n))
		*p.to = answers{queries: int(different), told: f.Info().FPR}
		for i := range different {
			if f.MayContain(filterKey(p.absent(n, i))) {
				p.to.yes++
			}
		}
	}
	out.listed, out.units, err = oneList(evenly(r.Uint32()), n, queries, asked)
	return out, err
}

// oneList asks a list of units; large ones, that take long, fewer times.
func oneList(p population, n uint64, queries, asked int) (answers, int, error) {
	shape, err := wish.Shape()
	if err != nil {
		return answers{}, 0, err
	}
	f, err := dynamic.Build(list(shape))
	if err != nil {
		return answers{}, 0, err
	}
	for i := range n {
		if _, err := f.Add(key(p.present(n, i))); err != nil {
			return answers{}, 0, err
		}
	}
	a := answers{queries: min(queries, asked/f.Units()), told: f.Info().FPR}
	for i := range uint64(a.queries) {
		if f.MayContain(key(p.absent(n, i))) {
			a.yes++
		}
	}
	return a, f.Units(), nil
}

// figure1 collects the series.
type figure1 struct {
	shape        dynamic.Shape
	table        lab.Table
	spread, near curve
	listed       curve
	bound        lab.Series
	checks       []lab.Check
}

// curve is what filters tell about themselves, as a line, and what was measured. Where
// no question was answered wrongly the upper limit is drawn instead: a logarithmic axis
// has no zero.
type curve struct{ told, measured, limit lab.Series }

func newCurve(name string, color int) curve {
	return curve{
		lab.Series{Name: name, Style: lab.Line, Color: color},
		lab.Series{Name: name + ", measured", Style: lab.Dots, Color: color},
		lab.Series{Name: name + ", none seen: at most", Style: lab.Dots, Color: color + 3},
	}
}

// floor is where the rates of nearly empty filters are cut off.
const floor = 1e-7

func (c *curve) add(n int, a answers, sets int) {
	x := float64(n)
	if told := a.told / float64(sets); told > floor {
		c.told.Points = append(c.told.Points, lab.Point{X: x, Y: told})
	}
	if a.yes > 0 {
		c.measured.Points = append(c.measured.Points, lab.Share(x, a.yes, a.queries))
	} else if a.queries > 0 {
		c.limit.Points = append(c.limit.Points, lab.Point{X: x, Y: -math.Log(0.05) / float64(a.queries)})
	}
}

func newFigure1(s dynamic.Shape) *figure1 {
	return &figure1{
		shape: s,
		table: lab.Table{
			Name: "sizes", Title: fmt.Sprintf("False positives, units of %d bits and %d hashes for 1024 ids", s.Positions, s.Hashes),
			Columns: []string{"ids", "DPBF, spread evenly", "DPBF, runs, asked for what follows them", "units of the DBF", "DBF", "Theorem A.1, at least"},
		},
		spread: newCurve("DPBF, evenly", 1), near: newCurve("DPBF, runs", 3), listed: newCurve("DBF", 2),
		bound: lab.Series{Name: "threshold", Style: lab.Dashed, Color: 7},
	}
}

// add puts all sets of one size in.
func (g *figure1) add(n int, sets []rates) {
	var all rates
	for _, s := range sets {
		all.spread.add(s.spread)
		all.near.add(s.near)
		all.listed.add(s.listed)
		all.units = max(all.units, s.units)
	}
	g.spread.add(n, all.spread, len(sets))
	g.near.add(n, all.near, len(sets))
	g.listed.add(n, all.listed, len(sets))
	g.bound.Points = append(g.bound.Points, lab.Point{X: float64(n), Y: target})
	alpha := float64(n) / theory.DynamicCapacity(float64(g.shape.Positions), float64(g.shape.Hashes), target)
	share := func(a answers) string {
		return fmt.Sprintf("%s (%d of %d)", lab.Digits(float64(a.yes)/float64(a.queries), 3), a.yes, a.queries)
	}
	g.table.Add(n, share(all.spread), share(all.near), all.units, share(all.listed), theory.DynamicFPRBound(target, alpha))
	g.checks = append(g.checks, keeps(fmt.Sprintf("DPBF, %d ids spread evenly", n), all.spread), keeps(fmt.Sprintf("DPBF, %d ids in runs", n), all.near))
	if alpha >= 2 {
		g.checks = append(g.checks, g.grows(n, alpha, all))
	}
}

// keeps checks that a rate is not above the threshold.
func keeps(name string, a answers) lab.Check {
	_, most := theory.BinomialInterval(float64(a.queries), target, lab.Sigmas)
	return lab.Holds(name, "at most 1e-4", fmt.Sprintf("%d of %d: %s", a.yes, a.queries, lab.Digits(float64(a.yes)/float64(a.queries), 3)),
		float64(a.yes) <= most, fmt.Sprintf("at most %.0f: %d standard deviations above 1e-4", most, lab.Sigmas))
}

// grows checks that the rate of a list is that of as many full units as it has, but
// for the last. A unit counts as full with up to k-1 bits less than the rate allows.
func (g *figure1) grows(n int, alpha float64, all rates) lab.Check {
	m, k := float64(g.shape.Positions), float64(g.shape.Hashes)
	least := math.Pow((float64(g.shape.Full)-k+1)/m, k)
	low := theory.DynamicFPRBound(least, alpha)
	high := theory.DynamicFPRBound(math.Pow(float64(g.shape.Full)/m, k), float64(all.units))
	lo, _ := theory.BinomialInterval(float64(all.listed.queries), low, lab.Sigmas)
	_, hi := theory.BinomialInterval(float64(all.listed.queries), high, lab.Sigmas)
	yes := float64(all.listed.yes)
	return lab.Holds(fmt.Sprintf("DBF, %d ids", n), fmt.Sprintf("linear increase: %.0f times 1e-4, and above 1e-4", math.Floor(alpha)),
		fmt.Sprintf("%d of %d: %s", all.listed.yes, all.listed.queries, lab.Digits(yes/float64(all.listed.queries), 4)),
		lo <= yes && yes <= hi && yes > target*float64(all.listed.queries),
		fmt.Sprintf("%.0f to %.0f: between the full units alone and all %d as full, and %d standard deviations", lo, hi, all.units, lab.Sigmas))
}

func (g *figure1) result() *lab.Result {
	series := []lab.Series{g.bound}
	for _, s := range []lab.Series{g.listed.told, g.listed.measured, g.spread.told, g.spread.measured, g.spread.limit, g.near.measured, g.near.limit} {
		if len(s.Points) > 0 {
			series = append(series, s)
		}
	}
	return &lab.Result{
		Tables: []lab.Table{g.table}, Checks: g.checks,
		Plots: []lab.Plot{{
			Name: "rate", Title: "Rate of false positives over the size of the set",
			X: lab.Axis{Label: "ids in the set", Log: true}, Y: lab.Axis{Label: "false positives", Log: true},
			Series: series,
			Notes:  []string{"\"None seen: at most\" are rates that would show a false positive 95 times in 100, 3 divided by the questions asked. The rate itself is far lower."},
		}},
		Notes: []string{
			"The paper gives neither its universe nor its data. Here: ids of 32 bits, units for 1024 of them in both filters. Lines are the rates that filters tell of themselves, from their " +
				"set bits; those below 1e-7 are left out.",
			"Ids in runs: a thousand neighbours each, and the questions are about the ids right behind them, which fall into the same units.",
		},
	}
}
