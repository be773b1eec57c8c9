package dpbf19

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var fig2 = lab.Experiment{
	ID:       "dpbf19/fig2",
	Paper:    paper,
	Title:    "Figure 2: query time",
	Question: "How much longer does a query of a list of filters take than one of the partition filter?",
	Says: "Figure 2: DBF takes over 2 orders of magnitude more time than DPBF. Abstract: up to three orders of magnitude lower time. " +
		"Sec. 1: a binary tree has a great query advantage over the linear structure. No sizes and no times are printed.",
	Quick: lab.Params{lab.Ints("sizes", 100, 1_000, 10_000, 100_000, 1_000_000), lab.Int("rounds", 15), lab.Int("microseconds a turn", 300)},
	Full:  lab.Params{lab.Ints("sizes", 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000), lab.Int("rounds", 51), lab.Int("microseconds a turn", 3_000)},
	Run:   runFig2,
}

// A contender answers the i-th of many questions about absent ids or present ones.
type contender struct {
	name            string
	absent, present func(i uint64) bool
}

func runFig2(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	sizes := e.Ints("sizes")
	seed := e.Rand(0).Uint32()
	var races []race
	for i, n := range sizes {
		e.Progress(i, len(sizes))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		all, units, err := contenders(evenly(seed), uint64(n))
		if err != nil {
			return nil, err
		}
		r, err := compete(ctx, all, e.Int("rounds"), time.Duration(e.Int("microseconds a turn"))*time.Microsecond)
		if err != nil {
			return nil, err
		}
		r.n, r.units = n, units
		races = append(races, r)
	}
	return timeResult(races), nil
}

// contenders builds a partition filter, a list and a plain filter for the same ids.
func contenders(p population, n uint64) ([]contender, int, error) {
	ours, err := partition.New(wish)
	if err != nil {
		return nil, 0, err
	}
	units, err := dynamic.Build(list(ours.Shape()))
	if err != nil {
		return nil, 0, err
	}
	plain, err := bloom.New(bloom.Config{Items: n, FPR: target})
	if err != nil {
		return nil, 0, err
	}
	if err := p.fill(ours, n); err != nil {
		return nil, 0, err
	}
	for i := range n {
		k := key(p.present(n, i))
		if _, err := plain.Add(k); err != nil {
			return nil, 0, err
		}
		if _, err := units.Add(k); err != nil {
			return nil, 0, err
		}
	}
	asks := func(name string, f filter.Filter, key func(uint64) filter.Key) contender {
		// Present ids are asked for in no order: 40503 has no factor in common with n.
		return contender{
			name, func(i uint64) bool { return f.MayContain(key(p.absent(n, i))) },
			func(i uint64) bool { return f.MayContain(key(p.present(n, i*40_503%n))) },
		}
	}
	return []contender{asks("DPBF", ours, filterKey), asks("DBF", units, key), asks("plain", plain, key)}, units.Units(), nil
}

// race has nanoseconds per query, by contender.
type race struct {
	n, units        int
	names           []string
	absent, present []float64
}

// compete lets all take turns, so that whatever else the machine does hits them
// alike, and takes the medians.
func compete(ctx context.Context, all []contender, rounds int, turn time.Duration) (race, error) {
	r := race{absent: make([]float64, len(all)), present: make([]float64, len(all))}
	for _, c := range all {
		r.names = append(r.names, c.name)
	}
	times := make([][]float64, 2*len(all))
	for range rounds {
		for i, c := range all {
			if ctx.Err() != nil {
				return r, context.Cause(ctx)
			}
			times[2*i] = append(times[2*i], perQuery(c.absent, turn))
			times[2*i+1] = append(times[2*i+1], perQuery(c.present, turn))
		}
	}
	for i := range all {
		r.absent[i], r.present[i] = lab.Median(times[2*i]), lab.Median(times[2*i+1])
	}
	return r, nil
}

// perQuery asks until the turn is over, the clock being looked at now and then, and
// returns nanoseconds.
func perQuery(ask func(i uint64) bool, turn time.Duration) float64 {
	const between = 16
	start, asked := time.Now(), uint64(0)
	for {
		for range between {
			ask(asked)
			asked++
		}
		if took := time.Since(start); took >= turn {
			return float64(took.Nanoseconds()) / float64(asked)
		}
	}
}

// timeResult draws the times and checks directions.
func timeResult(races []race) *lab.Result {
	table := lab.Table{
		Name: "times", Title: "Nanoseconds per query, medians",
		Columns: []string{"ids", "units of the DBF", "absent: DPBF", "DBF", "plain", "DBF / DPBF", "present: DPBF", "DBF", "plain", "DBF / DPBF"},
		Notes:   []string{"Times include the making of the question: an id is computed, and hashed for the list and the plain filter."},
	}
	series := make([]lab.Series, len(races[0].names))
	for i, name := range races[0].names {
		series[i] = lab.Series{Name: name, Style: lab.LinePoints}
	}
	for _, r := range races {
		table.Add(r.n, r.units, lab.Digits(r.absent[0], 3), lab.Digits(r.absent[1], 3), lab.Digits(r.absent[2], 3), lab.Digits(r.absent[1]/r.absent[0], 3),
			lab.Digits(r.present[0], 3), lab.Digits(r.present[1], 3), lab.Digits(r.present[2], 3), lab.Digits(r.present[1]/r.present[0], 3))
		for i := range series {
			series[i].Points = append(series[i].Points, lab.Point{X: float64(r.n), Y: r.absent[i]})
		}
	}
	return &lab.Result{
		Tables: []lab.Table{table}, Checks: timeChecks(races),
		Plots: []lab.Plot{{
			Name: "time", Title: "Time of a query about an absent id",
			X: lab.Axis{Label: "ids in the set", Log: true}, Y: lab.Axis{Label: "ns per query", Log: true}, Series: series,
		}},
		Notes: []string{"This is a timing: it depends on the machine and on what else that does. Filters take turns, and medians are shown."},
	}
}

// timeChecks are about directions and magnitudes.
func timeChecks(races []race) []lab.Check {
	last := races[len(races)-1]
	ratio := last.absent[1] / last.absent[0]
	shown := fmt.Sprintf("%s times at %d ids", lab.Digits(ratio, 3), last.n)
	checks := []lab.Check{
		lab.Holds("a query of the list takes longer (timing)", "a great query advantage of the tree", shown, ratio > 1, "above 1 at the largest size").Timed(),
		lab.Holds("the list gets slower with the set, the tree hardly (timing)", "linear structure against binary tree",
			fmt.Sprintf("from %d to %d ids: list %s times, tree %s times", races[0].n, last.n,
				lab.Digits(last.absent[1]/races[0].absent[1], 3), lab.Digits(last.absent[0]/races[0].absent[0], 3)),
			last.absent[1]/races[0].absent[1] > last.absent[0]/races[0].absent[0], "the list's factor is the larger one").Timed(),
	}
	// The paper does not say for how many ids; only lists of many units can be slow.
	if last.units < 5_000 {
		return append(checks, lab.Show("DBF / DPBF, in lists of few units (timing)", shown+fmt.Sprintf(" in %d units", last.units)))
	}
	return append(checks,
		lab.Holds("Figure 2: DBF / DPBF (timing)", "over 2 orders of magnitude", shown, ratio > 100, "above 100 at the largest size").Timed(),
		lab.Holds("Abstract: DBF / DPBF (timing)", "up to three orders of magnitude", shown, math.Log10(ratio) > 2.5, "above 10^2.5, nearer to three orders than to two, at the largest size").Timed())
}
