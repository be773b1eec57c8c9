package dlbf10

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var choices = lab.Experiment{
	ID:       "dlbf10/choices",
	Paper:    "[DlBF10]",
	Title:    "The power of choices",
	Question: "What is gained by building d filters with different hashes and sending the best?",
	Says:     "Sec. V leaves it open: \"creating d DlBF candidates with different sets of hash functions and selecting the best in terms of fpr or guarantees that certain elements are deletable\".",
	Quick:    choiceParams(100, 1, 4, 16, 64),
	Full:     choiceParams(paperTrials, 1, 2, 4, 8, 16, 32, 64, 128, 256),
	Run:      runChoices,
}

func choiceParams(trials int, candidates ...int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Int("regions", 24), lab.Int("keys", 22),
		lab.Ints("candidates", candidates...), lab.Ints("named keys", 1, 2, 4, 8, 22), lab.Int("trials", trials),
	}
}

// choice is what one trial with d candidates gave.
type choice struct {
	rate      float64 // fill^k
	deletable float64
	reached   []bool // for each number of named keys, whether all can be deleted
}

func runChoices(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	s := deletable.Shape{Bits: uint64(e.Int("bits")), Hashes: e.Int("hashes"), Regions: uint64(e.Int("regions"))}
	named, candidates := e.Ints("named keys"), e.Ints("candidates")
	table := lab.Table{
		Name: "choices", Title: "The best of d candidates",
		Columns: []string{"d", "bits to number them", "rate of the one with the fewest set bits", "keys deletable in it"},
	}
	rate := lab.Series{Name: "rate, best fill", Style: lab.LinePoints}
	success := make([]lab.Series, len(named))
	for i, q := range named {
		table.Columns = append(table.Columns, fmt.Sprintf("%d named keys deletable", q))
		success[i] = lab.Series{Name: fmt.Sprintf("%d named keys", q), Style: lab.LinePoints}
	}
	var found, deletables []lab.Estimate
	for i, d := range candidates {
		e.Progress(i, len(candidates))
		trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (choice, error) {
			return choose(s, lab.RandomKeys(r, e.Int("keys")), named, d)
		})
		if err != nil {
			return nil, err
		}
		found = append(found, lab.Figure(trials, func(c choice) float64 { return c.rate }))
		rate.Points = append(rate.Points, found[i].At(float64(d)))
		deletables = append(deletables, lab.Figure(trials, func(c choice) float64 { return c.deletable }))
		row := []any{d, math.Ceil(math.Log2(float64(d))), found[i], deletables[i]}
		for j := range named {
			yes := sumOf(trials, func(c choice) int { return oneIf(c.reached[j]) })
			success[j].Points = append(success[j].Points, lab.Share(float64(d), yes, len(trials)))
			row = append(row, share(yes, len(trials)))
		}
		table.Add(row...)
	}
	return &lab.Result{
		Plots: choicePlots(rate, success, s, e.Int("keys")), Tables: []lab.Table{table}, Checks: choiceChecks(candidates, found, deletables, success, s, e.Int("keys")),
		Notes: []string{"The rate is fill^k of the chosen filter. Numbering d candidates takes log2 d bits beside the filter."},
	}, nil
}

// choose builds d candidates for each goal.
func choose(s deletable.Shape, keys []filter.Key, named []int, d int) (c choice, err error) {
	f, _, err := deletable.Choose(s, keys, deletable.BestFill(), d)
	if err != nil {
		return c, err
	}
	c.rate = math.Pow(f.Info().Fill, float64(s.Hashes))
	c.deletable = deleteAll(f, keys).deletable
	for _, q := range named {
		_, _, err := deletable.Choose(s, keys, deletable.AllDeletable(keys[:q]...), d)
		if err != nil && !errors.Is(err, filter.ErrPinned) {
			return c, err
		}
		c.reached = append(c.reached, err == nil)
	}
	return c, nil
}

func choicePlots(rate lab.Series, success []lab.Series, s deletable.Shape, n int) []lab.Plot {
	last := rate.Points[len(rate.Points)-1].X
	standard := lab.Series{Name: "standard, m bits", Style: lab.Dashed}
	for _, x := range []float64{1, last} {
		standard.Points = append(standard.Points, lab.Point{X: x, Y: theory.DeletableFPR(float64(s.Bits), 0, float64(s.Hashes), float64(n))})
	}
	x := lab.Axis{Label: "candidates d", Log: true}
	return []lab.Plot{
		{
			Name: "rate", Title: "The rate of the candidate with the fewest set bits", X: x,
			Y: lab.Axis{Label: "false positives", Percent: true}, Series: []lab.Series{rate, standard},
		},
		{
			Name: "named", Title: "Some candidate lets all named keys be deleted", X: x,
			Y: lab.Axis{Label: "share of trials", Percent: true, Max: 1.02}, Series: success,
		},
	}
}

// choiceChecks states what was found: the paper only asks.
func choiceChecks(candidates []int, found, deletables []lab.Estimate, success []lab.Series, s deletable.Shape, n int) []lab.Check {
	first, last := found[0], found[len(found)-1]
	standard := theory.DeletableFPR(float64(s.Bits), 0, float64(s.Hashes), float64(n))
	enough := "none of those tried"
	for i, d := range candidates {
		if found[i].Mean <= standard {
			enough = fmt.Sprintf("%d, which takes %.0f bits", d, math.Ceil(math.Log2(float64(d))))
			break
		}
	}
	four := success[2].Points
	return []lab.Check{
		lab.Holds("selecting the best in terms of fpr", "may introduce another interesting interplay (Sec. V)",
			fmt.Sprintf("rate %s with one candidate, %s with %d", first, last, candidates[len(candidates)-1]), first.Mean-last.Mean > lab.Spread(first, last),
			fmt.Sprintf("lower by more than %d standard errors of the difference", lab.Sigmas)),
		lab.Show("candidates that make up for the bitmap", enough),
		lab.Show("the other side of the interplay", fmt.Sprintf("keys deletable in the filter with the fewest set bits: %s with one candidate, %s with %d: where bits coincide they collide",
			deletables[0], deletables[len(deletables)-1], candidates[len(candidates)-1])),
		lab.Show("four named keys", fmt.Sprintf("all deletable in %s of the filters, and with %d candidates in %s", lab.Percent(four[0].Y), candidates[len(candidates)-1], lab.Percent(four[len(four)-1].Y))),
	}
}
