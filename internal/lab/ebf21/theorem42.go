package ebf21

import (
	"context"
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var theorem42 = lab.Experiment{
	ID:       "ebf21/theorem42",
	Paper:    "[EBF21]",
	Title:    "Theorem 4.2: what resizing costs over many changes",
	Question: "How many keys stand in the filter at a resize, against the changes since the one before?",
	Says: "Theorem 4.2, proof: n_i <= 8/3 (a_i - a_(i-1)), where the i-th expansion or compression is at the a_i-th change and with n_i keys; p = n_i/n_(i-1) lies in (1/2, 5/8) or (8/5, 2). " +
		"So n changes take O(n ln(1/δ)).",
	Quick: lab.Params{lab.Int("initial size, log2", 10), lab.Int("doublings", 5), lab.Int("waves", 4)},
	Full:  lab.Params{lab.Int("initial size, log2", 12), lab.Int("doublings", 8), lab.Int("waves", 10)},
	Run:   runTheorem42,
}

// resize is one expansion or compression.
type resize struct {
	change, keys int
	up           bool
}

func runTheorem42(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	events, changes, err := churn(ctx, e)
	if err != nil {
		return nil, err
	}
	return &lab.Result{
		Plots:  []lab.Plot{gapPlot(events)},
		Checks: theorem42Checks(events, changes),
		Notes: []string{
			"Table 1's parameters. The filter grows by so many doublings, then the set swings between the sizes at which it expands and is compressed, which is the worst there is, then everything is deleted; all of that several times.",
		},
	}, nil
}

// churn leads a filter through waves of growth, swings and decline.
func churn(ctx context.Context, e *lab.Env) (events []resize, changes int, err error) {
	f, err := elastic.Build(tableShape(e.Int("initial size, log2"), 1))
	if err != nil {
		return nil, 0, err
	}
	r := e.Rand(0)
	var keys []filter.Key
	change := func(add bool) error {
		bits := f.Bits()
		var err error
		if add {
			keys = append(keys, filter.Key(r.Uint64()))
			_, err = f.Add(keys[len(keys)-1])
		} else {
			i := r.IntN(len(keys))
			err = f.Delete(keys[i])
			keys[i] = keys[len(keys)-1]
			keys = keys[:len(keys)-1]
		}
		changes++
		if f.Bits() != bits {
			events = append(events, resize{changes, len(keys), f.Bits() > bits})
		}
		return err
	}
	// until changes in one direction up to a size, or to nothing.
	until := func(add bool, bits uint64) error {
		for f.Bits() != bits && (add || len(keys) > 0) && ctx.Err() == nil {
			if err := change(add); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	start, top := f.Bits(), f.Bits()<<e.Int("doublings")
	for wave := range e.Int("waves") {
		e.Progress(wave, e.Int("waves"))
		for _, leg := range []struct {
			add  bool
			bits uint64
		}{{true, top}, {false, top / 2}, {true, top}, {false, top / 2}, {true, top}, {false, start}} {
			if err := until(leg.add, leg.bits); err != nil {
				return nil, 0, err
			}
		}
	}
	return events, changes, nil
}

// gap is n_i over the changes since the event before.
func gap(events []resize, i int) float64 {
	return float64(events[i].keys) / float64(events[i].change-events[i-1].change)
}

func gapPlot(events []resize) lab.Plot {
	up := lab.Series{Name: "expansion", Style: lab.Dots}
	down := lab.Series{Name: "compression", Style: lab.Dots}
	for i := 1; i < len(events); i++ {
		pt := lab.Point{X: float64(events[i].change), Y: gap(events, i)}
		if events[i].up {
			up.Points = append(up.Points, pt)
		} else {
			down.Points = append(down.Points, pt)
		}
	}
	last := float64(events[len(events)-1].change)
	return lab.Plot{
		Name: "gaps", Title: "Keys at a resize, over the changes since the one before",
		X: lab.Axis{Label: "changes"}, Y: lab.Axis{Label: "n / changes since", Max: 3},
		Series: []lab.Series{up, down, {Name: "8/3", Style: lab.Dashed, Points: []lab.Point{{X: 0, Y: 8.0 / 3}, {X: last, Y: 8.0 / 3}}}},
	}
}

func theorem42Checks(events []resize, changes int) []lab.Check {
	worst, inside, moved := 0.0, 0, 0
	low, high := math.Inf(1), 0.0
	for i := 1; i < len(events); i++ {
		worst = max(worst, gap(events, i))
		moved += events[i].keys
		p := float64(events[i].keys) / float64(events[i-1].keys)
		low, high = min(low, p), max(high, p)
		if p > 0.5 && p < 5.0/8 || p > 8.0/5 && p < 2 {
			inside++
		}
	}
	pairs := len(events) - 1
	return []lab.Check{
		lab.Holds("the largest n_i over a_i - a_(i-1)", "Theorem 4.2, proof: at most 8/3", fmt.Sprintf("%s in %d resizes", lab.Digits(worst, 3), pairs), pairs > 0 && worst <= 8.0/3, "at every resize"),
		lab.Holds("p = n_i/n_(i-1)", "Theorem 4.2, proof: in (1/2, 5/8) or (8/5, 2)", fmt.Sprintf("%d of %d in there, all between %s and %s", inside, pairs, lab.Digits(low, 3), lab.Digits(high, 3)),
			inside == pairs, "at every resize").Because(rangeReason),
		lab.Holds("keys that are moved, over all changes", "Theorem 4.2: O(n ln(1/δ)) for n changes, by n_i <= 8/3 (a_i - a_(i-1))",
			fmt.Sprintf("%s to each of %d changes", lab.Digits(float64(moved)/float64(changes), 3), changes), float64(moved) <= 8.0/3*float64(changes), "at most 8/3"),
	}
}
