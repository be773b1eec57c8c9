package ebf21

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/timing"
)

var fig6 = lab.Experiment{
	ID:       "ebf21/fig6",
	Paper:    "[EBF21]",
	Title:    "Fig. 6: the speed of mixed operations",
	Question: "Which filter is fastest when insertions, expansions and queries of present and of random keys are mixed?",
	Says: "Sec. 5.3, CAIDA trace: at 1:2:2 (insertions to positive to random queries) and a relative peak data size below 64 \"the MOPS of EBF is slightly lower than the " +
		"other two. However, in most cases, with the proportion of query increasing, the processing speed of EBF becomes better\".",
	Quick: lab.Params{
		lab.Int("initial size, log2", tableSize), lab.Floats("peaks", 1, 4, 16), lab.Ints("queries of each sort", 2, 8, 32, 64), lab.Int("rounds", 3),
	},
	Full: lab.Params{
		lab.Int("initial size, log2", peakSize), lab.Floats("peaks", 1, 2, 4, 8, 16, 32, 64), lab.Ints("queries of each sort", 2, 4, 8, 16, 32, 64), lab.Int("rounds", 3),
	},
	Data: captureFiles,
	Run:  runFig6,
}

var inFig6 = []contender{elasticOne, countingDynamic, doublingOne, tighteningOne}

// mixed is the work of Fig. 6 up to a peak.
func mixed(queries int, peak float64) string {
	return fmt.Sprintf("1:%d:%d up to %v", queries, queries, peak)
}

func runFig6(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	size, ratios := e.Int("initial size, log2"), e.Ints("queries of each sort")
	peaks := e.Floats("peaks")
	t, err := packetsFor(e, int(math.Ldexp(peaks[len(peaks)-1], size-unitShare)))
	if err != nil {
		return nil, err
	}
	peaks, stops := reached(peaks, size, len(t.packets))
	times := rounds{}
	for i, queries := range ratios {
		e.Progress(i, len(ratios))
		for round := range e.Int("rounds") {
			if err := timeMix(ctx, e.Rand(uint64(1+i)<<32|uint64(round)), t.packets, size, queries, peaks, stops, times); err != nil {
				return nil, err
			}
		}
	}
	return &lab.Result{
		Plots:  append(mixPlots(ratios, peaks, times), leadPlot(ratios, peaks, times)),
		Tables: []lab.Table{mixTable(ratios, peaks, times)},
		Checks: fig6Checks(ratios, peaks, times),
		Notes: []string{
			timed + timing.ThreadName + ".", t.describe(),
			"The relative peak data size counts insertions, as Sec. 5.1.3 says for traces with repeated items. Speeds are those of the whole run up to there. " +
				"Of the ratios only 1:2:2 is printed. Units of DBF and SBF are full at Ω = 0.2.",
		},
	}, nil
}

// reached drops the peaks that a trace is too short for, and returns how many
// insertions the others are.
func reached(peaks []float64, size, packets int) (kept []float64, stops []int) {
	for _, peak := range peaks {
		if n := int(math.Ldexp(peak, size-unitShare)); n <= packets {
			kept, stops = append(kept, peak), append(stops, n)
		}
	}
	return kept, stops
}

// timeMix adds the packets one by one with queries in between, and notes the times
// whenever a peak is reached.
func timeMix(ctx context.Context, r *rand.Rand, packets []filter.Key, size, queries int, peaks []float64, stops []int, times rounds) error {
	filters, names := make([]filter.Filter, len(inFig6)), make([]string, len(inFig6))
	for i, c := range inFig6 {
		var err error
		if filters[i], err = c.build(size, r.Uint64()); err != nil {
			return err
		}
		names[i] = c.name
	}
	const work = "all"
	t, done := timing.NewTurns(timing.Thread), 0
	var failed error
	for i, stop := range stops {
		for part := range chunks(ctx, packets[done:stop], strideLength/4) {
			asked := mixQueries(r, packets[:done+len(part)], len(part)*queries)
			t.Stride(work, names, len(part)+len(asked), func(i int) {
				if err := mix(filters[i], part, asked); err != nil {
					failed = err
				}
			})
			done += len(part)
		}
		for _, name := range names {
			at := lap{name, mixed(queries, peaks[i])}
			times[at] = append(times[at], t.Nanos(lap{name, work}))
		}
	}
	if failed == nil {
		failed = ctx.Err()
	}
	return failed
}

// mixQueries draws keys to ask for, by turns of the given packets and at random,
// n of either sort.
func mixQueries(r *rand.Rand, packets []filter.Key, n int) []filter.Key {
	asked := make([]filter.Key, 2*n)
	for i := 0; i < len(asked); i += 2 {
		asked[i] = packets[r.IntN(len(packets))]
		asked[i+1] = filter.Key(r.Uint64())
	}
	return asked
}

// mix adds the keys, and after each asks for its share of the others.
func mix(f filter.Filter, keys, asked []filter.Key) error {
	share := len(asked) / max(len(keys), 1)
	for i, k := range keys {
		if _, err := f.Add(k); err != nil {
			return err
		}
		askEach(f, asked[i*share:(i+1)*share])
	}
	return nil
}
