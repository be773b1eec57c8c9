package dlcbf06

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var failsafe = lab.Experiment{
	ID:       "dlcbf06/failsafe",
	Paper:    paper,
	Title:    "Moving a key to avoid overflow, at a load of 6.75",
	Question: "Does moving one key of the first subarray always make room at a load of 6.75, how often is it needed, and how far does it carry?",
	Says: "Sec. 5.2: with elements of the first subarray moved to another of their choices an average load of 6.75 (55,296 elements) was handled " +
		"without overflow in 10,000 trials. A potential overflow occurred between 40 to 100 times in each trial. Greater loads could be handled by more movement.",
	Quick: lab.Params{lab.Int("trials", 4), lab.Int("steps", paperSteps), lab.Floats("further loads", 7), lab.Int("further trials", 2)},
	Full:  lab.Params{lab.Int("trials", 2_000), lab.Int("steps", paperSteps), lab.Floats("further loads", 6.875, 7, 7.125, 7.25, 7.375, 7.5), lab.Int("further trials", 50)},
	Run:   runFailsafe,
}

// moves is what a trial found.
type moves struct {
	moved uint64
	full  bool // moving one key made no room
}

func runFailsafe(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	further := e.Floats("further loads")
	result := &lab.Result{Notes: []string{
		"A trial that meets a key for which no room can be made ends there. The paper's count of trials is 10,000; see the parameters for ours.",
	}}
	table := lab.Table{
		Name: "further", Title: fmt.Sprintf("Trials of %d steps", e.Int("steps")),
		Columns: []string{"load", "elements", "trials", "moves in a trial: average", "least", "most", "expected", "trials that found no room"},
		Notes:   []string{"Expected: steps times the odds that all four buckets of a key are full, by the fluid limit without moving."},
	}
	for i, load := range append([]float64{6.75}, further...) {
		e.Progress(i, 1+len(further))
		n, trials := int(load*exampleBuckets), e.Int("further trials")
		if i == 0 {
			trials = e.Int("trials")
		}
		outcomes, err := lab.TryTrials(ctx, e, trials, func(_ int, r *rand.Rand) (moves, error) { return countMoves(n, e.Int("steps"), r) })
		if err != nil {
			return nil, err
		}
		full := count(outcomes, func(m moves) bool { return m.full })
		moved := column(outcomes, func(m moves) float64 { return float64(m.moved) })
		least, most := extremes(moved)
		table.Add(load, n, trials, lab.Mean(moved), lab.Digits(least, 3), lab.Digits(most, 3), expectedMoves(distinct(float64(n)), e.Int("steps")), full)
		if i == 0 {
			result.Checks = failsafeChecks(moved, full, e.Int("steps"))
			result.Plots = []lab.Plot{movesPlot(moved)}
		}
	}
	result.Tables = []lab.Table{table}
	return result, nil
}

func countMoves(n, steps int, r *rand.Rand) (m moves, err error) {
	f, err := dleft.Build(salted(r))
	if err != nil {
		return m, err
	}
	err = churn(f, n, steps, steps, r, func() {})
	if m.full = errors.Is(err, filter.ErrFull); m.full {
		err = nil
	}
	m.moved = f.Moved()
	return m, err
}

// expectedMoves is how many keys find all buckets full if so many cells are used, by
// the fluid limit. It inverts the probability that at least one does.
func expectedMoves(cells float64, steps int) float64 {
	const few = 1e-3 // steps at a time, so that the probability does not round to 1
	return theory.DLeftSteadyOverflow(4, 8, 2048, cells, few) / few * float64(steps)
}

// failsafeChecks are about a load of 6.75.
func failsafeChecks(moved []float64, full, steps int) []lab.Check {
	const n = 6.75 * exampleBuckets
	least, most := extremes(moved)
	mean, own, shared := lab.Mean(moved), expectedMoves(n, steps), expectedMoves(distinct(n), steps)
	return []lab.Check{
		lab.Exact("elements at a load of 6.75", "55,296", n),
		lab.Holds("trials in which moving made no room", "0 of 10,000", fmt.Sprintf("%d of %d", full, len(moved)), full == 0, "none"),
		lab.Holds("moves in a trial", "between 40 to 100", fmt.Sprintf("%.0f to %.0f, %s on average", least, most, mean),
			least >= 40-5 && most <= 100+5, "35 to 105: the printed numbers are rounded to tens").
			Because(fmt.Sprintf("Ours have an average of %s and a standard deviation of %.1f, so that of many trials some are outside. The printed range is what 10,000 trials with an average of %.0f have, "+
				"which is the fluid limit for 55,296 elements that all have cells of their own. Those with equal fingerprints share one, which makes it %.0f", mean, mean.Deviation, own, shared)),
		sharedCells(mean, own, shared),
	}
}

// sharedCells checks our explanation of the moves: that they are fewer than if every
// element had a cell of its own. So few trials that could not tell only show. Moves are
// rare events, whose number spreads at least as a Poisson one does; a handful of trials
// may happen to spread less.
func sharedCells(mean lab.Estimate, own, shared float64) lab.Check {
	mean.Deviation = max(mean.Deviation, math.Sqrt(shared))
	reach := lab.Sigmas * mean.StandardError()
	text := fmt.Sprintf("%s; fluid limit %.1f with a cell for each element, %.1f if equal fingerprints share one", mean, own, shared)
	const name = "moves in a trial: elements share cells"
	if mean.N < 2 || reach > own-shared {
		return lab.Show(name, text+"; too few trials to tell them apart")
	}
	return lab.Holds(name, fmt.Sprintf("our explanation: fewer than %.1f", own), text, mean.Mean+reach < own, fmt.Sprintf("below by more than %d standard errors", lab.Sigmas))
}

// movesPlot draws how often a trial needed so many moves.
func movesPlot(moved []float64) lab.Plot {
	const wide = 5
	bins := map[int]int{}
	least, most := 40/wide, 100/wide
	for _, m := range moved {
		bin := int(m) / wide
		bins[bin]++
		least, most = min(least, bin), max(most, bin)
	}
	s := lab.Series{Name: "measured", Style: lab.Bars}
	for bin := least; bin <= most; bin++ {
		s.Points = append(s.Points, lab.Point{X: wide * (float64(bin) + 0.5), Y: float64(bins[bin]) / float64(len(moved))})
	}
	top := 0.0
	for _, p := range s.Points {
		top = max(top, p.Y)
	}
	return lab.Plot{
		Name: "moves", Title: fmt.Sprintf("Keys moved in a trial, load 6.75, %d trials", len(moved)),
		X: lab.Axis{Label: "moves, in fives"}, Y: lab.Axis{Label: "share of trials", Percent: true},
		Series: []lab.Series{s, {Name: "printed range", Style: lab.Line, Color: 2, Points: []lab.Point{{X: 40, Y: 1.05 * top}, {X: 100, Y: 1.05 * top}}}},
	}
}
