package evergreen

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var shrink = lab.Experiment{
	ID:       "evergreen/shrink",
	Title:    "Growing, and shrinking again",
	Question: "When most keys are deleted again, does the memory come back, does the rate stay, and is anything left of the deleted keys?",
	Says: "Package comment: \"it deletes exactly, grows and shrinks a block at a time\"; \"Add splits the next block while that is above the asked rate, " +
		"Delete undoes splits while it is below 0.8 of it\"; memory shrinks with the set; \"a block has the bits of its keys and no others\".",
	Quick: lab.Params{
		lab.Int("least keys", 1_000), lab.Int("most keys", 600_000), lab.Int("sizes", 16), lab.Int("queries", 20_000),
		lab.Floats("rates", 0.01, 0.001), lab.Int("width", 56),
	},
	Full: lab.Params{
		lab.Int("least keys", 1_000), lab.Int("most keys", 50_000_000), lab.Int("sizes", 60), lab.Int("queries", 1_000_000),
		lab.Floats("rates", 0.01, 0.001), lab.Int("width", 56),
	},
	Run: runShrink,
}

// A trip is a growth, and the way back.
type trip struct {
	growth
	back, backGlances []look
	deleted           look // in which the strangers are deleted keys
	again             comparison
}

// A comparison is with a filter that never had other keys.
type comparison struct{ keys, asked, unequal int }

func runShrink(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	asked := e.Floats("rates")
	trips, err := lab.TryTrials(ctx, e, len(asked), func(i int, r *rand.Rand) (trip, error) {
		return thereAndBack(ctx, e, evergreen.Config{FPR: asked[i], Width: e.Int("width")}, newKeys(r))
	})
	if err != nil {
		return nil, err
	}
	result := &lab.Result{Notes: []string{
		"Keys are added one by one and then deleted in the order of their arrival. No key is added twice.",
		"Deleting goes on until the smallest size; the comparison with a filter that never had the deleted keys is made at an eighth of the largest.",
	}}
	for _, t := range trips {
		result.Checks = append(result.Checks, t.checks()...)
		result.Tables = append(result.Tables, t.table())
		result.Plots = append(result.Plots, t.ratePlot(), t.memoryPlot())
	}
	return result, nil
}

// tag makes names of files.
func (t trip) tag(name string) string {
	return fmt.Sprintf("%s-%.0f", name, 1/t.shape.FPR)
}

func thereAndBack(ctx context.Context, e *lab.Env, c evergreen.Config, k keys) (trip, error) {
	f, err := evergreen.New(c)
	if err != nil {
		return trip{}, err
	}
	t := trip{growth: growth{shape: f.Shape()}}
	w := &walker{f: f, keys: k}
	stops := sizes(e.Int("least keys"), e.Int("most keys"), e.Int("sizes"))
	if t.looks, t.glances, err = w.up(ctx, stops, e.Int("queries")); err != nil {
		return t, err
	}
	t.last = w.len()
	return t, t.goBack(ctx, w, stops, e.Int("queries"))
}

// goBack deletes down to each of the sizes.
func (t *trip) goBack(ctx context.Context, w *walker, stops []int, queries int) (err error) {
	at := float64(w.len())
	for i := len(stops) - 2; i >= 0; i-- {
		for ; at > float64(stops[i]); at /= fine {
			if err := w.shrink(int(at)); err != nil {
				return err
			}
			t.backGlances = append(t.backGlances, w.glance())
			if t.again.asked == 0 && w.len() <= t.last/8 {
				if t.again, err = w.again(queries); err != nil {
					return err
				}
				t.deleted = w.askDeleted(queries)
			}
		}
		if err := w.shrink(stops[i]); err != nil {
			return err
		}
		t.back = append(t.back, w.look(queries))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// again builds a filter of the same keys and of the same size that never had any
// others, and counts unequal answers.
func (w *walker) again(queries int) (comparison, error) {
	c := comparison{keys: w.len(), asked: queries}
	g, err := evergreen.Build(w.f.Shape())
	if err != nil {
		return c, err
	}
	fresh := &walker{f: g, keys: w.keys, first: w.first, next: w.first}
	if err := fresh.grow(w.len()); err != nil {
		return c, err
	}
	for g.Blocks() < w.f.Blocks() {
		if err := g.Grow(); err != nil {
			return c, err
		}
	}
	for i := range queries {
		if k := w.keys.stranger(i); w.f.MayContain(k) != g.MayContain(k) {
			c.unequal++
		}
	}
	return c, nil
}

// askDeleted asks about the keys that were deleted last.
func (w *walker) askDeleted(queries int) look {
	l := w.glance()
	l.asked = min(queries, w.first)
	for i := range l.asked {
		if w.f.MayContain(w.keys.member(w.first - 1 - i)) {
			l.yes++
		}
	}
	return l
}

func (t trip) checks() []lab.Check {
	name := percent(t.shape.FPR)
	const promise = "keeps the rate it was asked for at every size (package comment)"
	return []lab.Check{
		kept("rate while growing, "+name, promise, t.shape.FPR, t.looks),
		kept("rate while shrinking, "+name, promise, t.shape.FPR, t.back),
		t.used(name),
		neverDenied("no member denied while growing, "+name, t.looks),
		neverDenied("no member denied while shrinking, "+name, t.back),
		t.blocksBetween(name),
		kept("rate of deleted keys, "+name, "deletes exactly: a deleted key is as absent as any other (package comment)", t.shape.FPR, []look{t.deleted}),
		noneOf("nothing is left of deleted keys, "+name, "a block has the bits of its keys and no others (package comment)",
			t.again.unequal, t.again.asked, fmt.Sprintf("answers other than those of a filter of as many blocks that only ever had the %d keys", t.again.keys)),
		t.slowBack(name),
	}
}

// used checks that the rate is not far below the asked one, which would be wasted
// memory.
func (t trip) used(name string) lab.Check {
	ok, lowest := true, math.Inf(1)
	for _, l := range t.back {
		if l.blocks > smallest {
			least, _ := theory.BinomialInterval(float64(l.asked), t.floor(l), lab.Sigmas)
			ok = ok && float64(l.yes) >= least
			lowest = min(lowest, float64(l.yes)/float64(l.asked))
		}
	}
	return lab.Holds("lowest rate while shrinking, "+name, "Delete undoes splits while the rate is below 0.8 of the asked one (package comment)",
		percent(lowest), ok, fmt.Sprintf("at no size with more than %d blocks below 0.8 (1 - 1/(2 sqrt blocks)) of the asked rate, for growth aims that much lower (design 4), "+
			"and a hundredth, which stripes may keep to themselves, by more than %d standard deviations", smallest, lab.Sigmas))
}

// floor is the rate at which merging stops. Given the loads the bits scatter by
// 1/(3 sqrt blocks), of which one is allowed for.
func (t trip) floor(l look) float64 {
	root := math.Sqrt(float64(l.blocks))
	return t.shape.FPR * (0.8*(1-1/(2*root)) - 0.01) * (1 - 1/(3*root))
}

// blocksBetween checks the size while shrinking against the formula, at the asked
// rate and at 0.8 of it.
func (t trip) blocksBetween(name string) lab.Check {
	ok, worst := true, 0.0
	for _, l := range t.backGlances {
		n, perWord := float64(l.keys), t.shape.Hashes/theory.BlockWords
		aim := t.shape.FPR * (1 - 1/(2*math.Sqrt(float64(l.blocks))))
		few, many := evergreen.Blocks(n, aim, perWord), evergreen.Blocks(n, 0.79*aim, perWord)
		// The loads of blocks scatter, too: by the sum of many independent ones.
		slack := 1 + 4/math.Sqrt(float64(l.blocks))
		ok = ok && float64(l.blocks) >= few/slack && float64(l.blocks) <= many*slack
		worst = max(worst, l.fast/(512*few/n))
	}
	return lab.Holds("blocks while shrinking, "+name, "between what the asked rate needs and what 0.8 of it needs (package comment)",
		fmt.Sprintf("at most %.3f times what the asked rate needs", worst), ok,
		"at every hundredth of the way between evergreen.Blocks of the rate and of 0.79 of it, and 4/sqrt(blocks) beyond")
}

// slowBack checks that the slow memory shrinks with the set: at the sizes above
// 20,000 keys it is what it was at the same size while growing.
func (t trip) slowBack(name string) lab.Check {
	worst := 0.0
	for i, l := range t.back {
		up := t.looks[len(t.looks)-2-i]
		if l.keys >= 20_000 {
			worst = max(worst, l.slow/up.slow)
		}
	}
	return lab.Show("slow memory while shrinking, "+name,
		fmt.Sprintf("at sizes from 20,000 keys on at most %.3f times what it was at the same size while growing", worst))
}

func (t trip) table() lab.Table {
	table := lab.Table{
		Name: t.tag("sizes"), Title: "The way there and back, asked for " + percent(t.shape.FPR),
		Columns: []string{"way", "keys", "blocks", "fast bits per key", "slow", "all", "measured rate", "members denied"},
	}
	add := func(way string, looks []look) {
		for _, l := range looks {
			table.Add(way, l.keys, l.blocks, l.fast, l.slow, l.fast+l.slow, percent(float64(l.yes)/float64(l.asked)), l.denied)
		}
	}
	add("growing", t.looks)
	add("shrinking", t.back)
	return table
}

func (t trip) ratePlot() lab.Plot {
	var above []look
	for _, l := range t.looks {
		if l.keys >= 5_000 {
			above = append(above, l)
		}
	}
	ends := func(share float64) []lab.Point {
		return line([]look{above[0], above[len(above)-1]}, func(look) float64 { return share })
	}
	back := t.back[:len(above)-1]
	return lab.Plot{
		Name: t.tag("rate"), Title: "The rate there and back, asked for " + percent(t.shape.FPR),
		X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "false positives ÷ asked rate"},
		Series: []lab.Series{
			{Name: "growing", Style: lab.Dots, Points: rates(above, t.shape.FPR), Color: 1},
			{Name: "shrinking", Style: lab.Dots, Points: rates(back, t.shape.FPR), Color: 2},
			{Name: "asked", Style: lab.Dashed, Points: ends(1), Color: 7},
			{Name: "merges below", Style: lab.Dashed, Points: ends(0.8), Color: 3},
		},
	}
}

func (t trip) memoryPlot() lab.Plot {
	return lab.Plot{
		Name: t.tag("memory"), Title: "Memory there and back, asked for " + percent(t.shape.FPR),
		X: lab.Axis{Label: "keys", Log: true}, Y: lab.Axis{Label: "bits per key", Max: 160},
		Series: []lab.Series{
			{Name: "all, growing", Points: line(t.glances, allBits), Color: 1},
			{Name: "all, shrinking", Points: line(t.backGlances, allBits), Color: 2},
			{Name: "fast, growing", Points: line(t.glances, fastBits), Color: 3},
			{Name: "fast, shrinking", Points: line(t.backGlances, fastBits), Color: 4},
		},
	}
}
