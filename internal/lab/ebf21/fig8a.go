package ebf21

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var fig8a = lab.Experiment{
	ID:       "ebf21/fig8a",
	Paper:    "[EBF21]",
	Title:    "Fig. 8a: slow memory against that of a counting filter",
	Question: "How much slow memory do the buckets take after each expansion, and how much counters that are made for the largest size at once?",
	Says: "Sec. 5.4, CAIDA trace, 2^12 bits at first, a CBF of 2^22 counters: \"EBF uses less memory mostly, but CBF make a better use of memory " +
		"when its size is nearly the maximum size\".",
	Quick: lab.Params{lab.Int("initial size, log2", 8), lab.Int("final size, log2", 18)},
	Full:  lab.Params{lab.Int("initial size, log2", 12), lab.Int("final size, log2", 22)},
	Data:  captureFiles,
	Run:   runFig8a,
}

// stage is the time between two expansions.
type stage struct {
	expansions int
	keys       int     // at its end
	slots      float64 // bits of slow memory
	prints     float64 // bits of the fingerprints alone, at the end, each as wide as a slot
	published  float64 // the same, as wide as the present size leaves them
	stored     float64 // bits of a file, at the end
}

func runFig8a(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	first, last := e.Int("initial size, log2"), e.Int("final size, log2")
	cbf, err := counting.Build(counting.Shape{Counters: 1 << last, Hashes: tableHashes, CounterBits: 4})
	if err != nil {
		return nil, err
	}
	t, err := packetsFor(e, int(1.02*fullKeys(last)/newFlow))
	if err != nil {
		return nil, err
	}
	stages, err := growThrough(ctx, e, t, first, last, cbf)
	if err != nil {
		return nil, err
	}
	counters := float64(cbf.Shape().Bits())
	return &lab.Result{
		Plots:  []lab.Plot{stagePlot(stages, counters)},
		Tables: []lab.Table{stageTable(stages, counters)},
		Checks: fig8aChecks(stages, counters, last-first),
		Notes: []string{
			t.describe(),
			"k = 5, D = 8, b = 3, Ω = 0.2, w = 32; counters of 4 bits. Every flow went into both filters. A slot keeps the fingerprint of the initial size, since compression needs it whole again.",
		},
	}, nil
}

// growThrough adds a trace and looks at the filter before and after each expansion.
func growThrough(ctx context.Context, e *lab.Env, t trace, first, last int, cbf filter.Filter) ([]stage, error) {
	shape := tableShape(first, 0)
	shape.Growth = last - first
	f, err := elastic.Build(shape)
	if err != nil {
		return nil, err
	}
	now := stage{slots: float64(f.Info().SlowBits)}
	var stages []stage
	finish := func() error {
		held := float64(now.keys * tableHashes)
		now.prints, now.published = held*float64(hashBits-first), held*float64(hashBits-first-now.expansions)
		written, err := f.Snapshot().WriteTo(io.Discard)
		now.stored = 8 * float64(written)
		stages = append(stages, now)
		return err
	}
	for i, k := range t.packets {
		if i%(1<<14) == 0 {
			e.Progress(i, len(t.packets))
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		size := f.Bits()
		added, err := f.Add(k)
		if err != nil {
			break // full at the last size
		}
		if !added {
			continue
		}
		if _, err := cbf.Add(k); err != nil {
			return nil, err
		}
		now.keys++
		if f.Bits() != size {
			if err := finish(); err != nil {
				return nil, err
			}
			now.expansions = int(math.Round(math.Log2(float64(f.Bits())))) - first
			now.slots = float64(f.Info().SlowBits)
		}
	}
	return stages, finish()
}

// An account is a way to say how much memory the buckets take.
type account struct {
	name string
	of   func(stage) float64
}

var (
	bySlots   = account{"slots, full or not", func(s stage) float64 { return s.slots }}
	byPrints  = account{"fingerprints alone", func(s stage) float64 { return s.prints }}
	byShorter = account{"fingerprints, shorter by every expansion", func(s stage) float64 { return s.published }}
	byFile    = account{"file", func(s stage) float64 { return s.stored }}
)

var accounts = []account{bySlots, byPrints, byShorter, byFile}

func stagePlot(stages []stage, counters float64) lab.Plot {
	p := lab.Plot{
		Name: "memory", Title: "Slow memory by expansions",
		X: lab.Axis{Label: "expansions"}, Y: lab.Axis{Label: "bits", Log: true},
		Notes: []string{"Fingerprints and files as they are at the end of each stage, when they are most."},
	}
	for _, a := range accounts {
		s := lab.Series{Name: a.name, Style: lab.LinePoints}
		for _, st := range stages {
			s.Points = append(s.Points, lab.Point{X: float64(st.expansions), Y: a.of(st)})
		}
		p.Series = append(p.Series, s)
	}
	fixed := lab.Series{Name: "CBF", Style: lab.Dashed, Points: []lab.Point{
		{X: float64(stages[0].expansions), Y: counters}, {X: float64(stages[len(stages)-1].expansions), Y: counters},
	}}
	p.Series = append(p.Series, fixed)
	return p
}

func stageTable(stages []stage, counters float64) lab.Table {
	t := lab.Table{Name: "stages", Title: "Slow memory in KiB", Columns: []string{"expansions", "keys at the end"}}
	for _, a := range accounts {
		t.Columns = append(t.Columns, a.name)
	}
	t.Columns = append(t.Columns, "CBF")
	kib := func(bits float64) string { return lab.Digits(bits/8/1024, 3) }
	for _, s := range stages {
		row := []any{s.expansions, s.keys}
		for _, a := range accounts {
			row = append(row, kib(a.of(s)))
		}
		t.Add(append(row, kib(counters))...)
	}
	return t
}

// fig8aChecks judges the sentence by all slots, which is the memory that is taken.
// The other counts are shown and not judged: with several to choose from one would
// agree. "Mostly" is more than half of the stages.
func fig8aChecks(stages []stage, counters float64, expansions int) []lab.Check {
	taken, last := accounts[0], stages[len(stages)-1]
	less, final := lessStages(taken, stages, counters)
	mostly := lab.Holds("EBF takes less slow memory than CBF", "\"EBF uses less memory mostly\"", less,
		2*lessCount(taken, stages, counters) > len(stages), "in more than half of the stages, counting all slots")
	if emptySlotsExplain(stages, counters) {
		mostly = mostly.Because(slotsReason)
	}
	checks := []lab.Check{
		mostly,
		lab.Holds("slots that hold nothing make the difference", "our explanation, not the paper's", lessInEach(stages, counters),
			emptySlotsExplain(stages, counters), "less in more than half of the stages by fingerprints alone and by the file, which have no empty slots"),
	}
	if last.expansions == expansions { // else the trace was too short
		checks = append(checks, lab.Holds("CBF takes less at its maximum", "\"CBF make a better use of memory when its size is nearly the maximum size\"",
			final, taken.of(last) > counters, "more than the counters after the last expansion, counting all slots"))
	}
	for _, a := range accounts[1:] {
		less, final := lessStages(a, stages, counters)
		checks = append(checks, lab.Show("slow memory, counted by "+a.name, less+"; "+final))
	}
	return checks
}

// emptySlotsExplain checks slotsReason: what has no empty slots must be less mostly.
func emptySlotsExplain(stages []stage, counters float64) bool {
	return 2*lessCount(byPrints, stages, counters) > len(stages) && 2*lessCount(byFile, stages, counters) > len(stages)
}

func lessInEach(stages []stage, counters float64) string {
	return fmt.Sprintf("of %d stages less in %d by all slots, %d by fingerprints alone, %d by the file", len(stages),
		lessCount(bySlots, stages, counters), lessCount(byPrints, stages, counters), lessCount(byFile, stages, counters))
}

func lessCount(a account, stages []stage, counters float64) (less int) {
	for _, s := range stages {
		if a.of(s) < counters {
			less++
		}
	}
	return less
}

func lessStages(a account, stages []stage, counters float64) (less, final string) {
	last := stages[len(stages)-1]
	return fmt.Sprintf("less in %d of %d stages", lessCount(a, stages, counters), len(stages)),
		fmt.Sprintf("%s times the counters after %d expansions", lab.Digits(a.of(last)/counters, 3), last.expansions)
}
