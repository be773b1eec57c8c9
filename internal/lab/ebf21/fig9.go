package ebf21

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// fig9Hashes is k of Sec. 5.5.
const fig9Hashes = 8

var fig9a = lab.Experiment{
	ID:       "ebf21/fig9a",
	Paper:    "[EBF21]",
	Title:    "Fig. 9a: the load rate by size and branches",
	Question: "Which share of the slots is in use when the first bucket tree overflows, by the size of the filter and the branches of the tree?",
	Says: "Sec. 5.5, CAIDA trace, 8 hash functions, 2^19 items: the load rate \"gets lower as the size of the Bloom filter gets larger\" and \"more branches can " +
		"increase the load rate\".",
	Quick: lab.Params{lab.Ints("sizes, log2", 8, 10, 12), lab.Ints("slots", tableSlots), lab.Ints("branches", 1, 2, 3, 4, 8), lab.Int("items", 1<<19), lab.Int("trials", 30)},
	Full: lab.Params{
		lab.Ints("sizes, log2", 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19), lab.Ints("slots", tableSlots), lab.Ints("branches", 1, 2, 3, 4, 8),
		lab.Int("items", 1<<19), lab.Int("trials", 20),
	},
	Data: captureFiles,
	Run:  runFig9,
}

var fig9b = lab.Experiment{
	ID:       "ebf21/fig9b",
	Paper:    "[EBF21]",
	Title:    "Fig. 9b: the load rate by bucket size and branches",
	Question: "Which share of the slots is in use when the first bucket tree overflows, by the size of the buckets and the branches of the tree?",
	Says: "Sec. 5.5, CAIDA trace, 2^19 items: \"with the number of branches fixed, the load rate increases as the size of the buckets gets larger. And with the size of the " +
		"buckets fixed, the load rate increases as the number of branches gets larger.\"",
	Quick: lab.Params{lab.Ints("sizes, log2", 10), lab.Ints("slots", 2, 4, 8, 16), lab.Ints("branches", 1, 2, 3, 4, 8), lab.Int("items", 1<<19), lab.Int("trials", 30)},
	Full: lab.Params{
		lab.Ints("sizes, log2", tableSize), lab.Ints("slots", 2, 4, 6, 8, 12, 16, 24, 32), lab.Ints("branches", 1, 2, 3, 4, 8),
		lab.Int("items", 1<<19), lab.Int("trials", 20),
	},
	Data: captureFiles,
	Run:  runFig9,
}

// bucketing is what a load rate depends on.
type bucketing struct{ size, slots, branches int }

// slotsInAll is T of Sec. 5.1.3: level 1, and level 2 if there is one.
func (b bucketing) slotsInAll() float64 {
	trees := math.Ceil(math.Ldexp(1, b.size) / float64(b.branches))
	if b.branches == 1 {
		trees = 0
	}
	return float64(b.slots) * (math.Ldexp(1, b.size) + trees)
}

// expected is the load rate that exact odds give: the load at which the first of
// all trees overflows, on average, is the integral of the odds that none has. Loads
// of trees are taken as independent.
func (b bucketing) expected() float64 {
	const step = 1.0 / 64
	m, sum := math.Ldexp(1, b.size), 0.0
	trees := m / float64(b.branches)
	for load, none := step/2, 1.0; none > 1e-6 && load*m < b.slotsInAll(); load += step {
		none = math.Exp(-trees * theory.ElasticTreeOverflow(load, b.slots, b.branches))
		sum += none * step
	}
	return sum * m / b.slotsInAll()
}

// loadRate adds flows until one finds no room. It is not known if none does.
func (b bucketing) loadRate(flows []filter.Key, salt uint64) (rate float64, known bool, err error) {
	f, err := elastic.Build(elastic.Shape{
		Bits: 1 << b.size, Hashes: fig9Hashes, HashBits: hashBits, Slots: b.slots, Branches: b.branches, Threshold: 1, Salt: salt,
	})
	if err != nil {
		return 0, false, err
	}
	for _, k := range flows {
		if _, err = f.Add(k); err != nil {
			break
		}
	}
	if err != nil && !errors.Is(err, filter.ErrFull) {
		return 0, false, err
	}
	return float64(f.Len()) * fig9Hashes / b.slotsInAll(), err != nil, nil
}

// loads are the load rates that were found.
type loads map[bucketing]lab.Estimate

func runFig9(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	sizes, slots, branches := e.Ints("sizes, log2"), e.Ints("slots"), e.Ints("branches")
	source, err := fig9Flows(e)
	if err != nil {
		return nil, err
	}
	found, steps, step := loads{}, len(sizes)*len(slots)*len(branches), 0
	for _, size := range sizes {
		for _, d := range slots {
			for _, b := range branches {
				e.Progress(step, steps)
				step++
				at := bucketing{size, d, b}
				rates, err := measureLoad(ctx, e, at, source.draw)
				if err != nil {
					return nil, err
				}
				if len(rates) == e.Int("trials") {
					found[at] = lab.Mean(rates)
				}
			}
		}
	}
	axis, xs := lab.Axis{Label: "log2 of the size in bits"}, sizes
	at := func(x, b int) bucketing { return bucketing{x, slots[0], b} }
	falls := true
	if len(slots) > 1 {
		axis, xs, falls = lab.Axis{Label: "slots of a bucket"}, slots, false
		at = func(x, b int) bucketing { return bucketing{sizes[0], x, b} }
	}
	return &lab.Result{
		Plots:  []lab.Plot{loadPlot(axis, xs, branches, at, found)},
		Tables: []lab.Table{loadTable(axis.Label, xs, branches, at, found)},
		Checks: fig9Checks(xs, branches, falls, at, found),
		Notes: []string{source.note, "k = 8. A repeated packet finds its fingerprints and changes nothing, so that only flows were added, each once. " +
			"Dashed: the load at which the first tree overflows, from exact odds. One branch is without level 2."},
	}, nil
}

// flowSource gives every trial its flows.
type flowSource struct {
	draw func(r *rand.Rand, most int) []filter.Key
	note string
}

// fig9Flows are those of a seeded trace, or of captures, which are the same in every
// trial: then only the salts of the filters differ.
func fig9Flows(e *lab.Env) (flowSource, error) {
	if e.Data == "" {
		return flowSource{flowsOf, "The flows are not CAIDA's, which are not ours to ship, but random five-tuples."}, nil
	}
	t, err := readCaptures(e.Data)
	flows := t.flows()
	draw := func(_ *rand.Rand, most int) []filter.Key { return flows[:min(most, len(flows))] }
	return flowSource{draw, t.describe() + " Trials differ in the salt. Where they do not make every filter overflow there is no load rate."}, err
}

// measureLoad returns the load rates of all trials that came to an overflow.
func measureLoad(ctx context.Context, e *lab.Env, at bucketing, draw func(*rand.Rand, int) []filter.Key) ([]float64, error) {
	most := min(e.Int("items"), int(1.1*at.slotsInAll()/fig9Hashes))
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (float64, error) {
		rate, known, err := at.loadRate(draw(r, most), r.Uint64())
		if !known {
			rate = math.NaN()
		}
		return rate, err
	})
	var rates []float64
	for _, rate := range trials {
		if !math.IsNaN(rate) {
			rates = append(rates, rate)
		}
	}
	return rates, err
}
