package ebf21

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/timing"
)

var fig8b = lab.Experiment{
	ID:       "ebf21/fig8b",
	Paper:    "[EBF21]",
	Title:    "Fig. 8b: the time of an expansion",
	Question: "How long does whoever needs an expansion wait: with the lazy update, with all fingerprints moved at once, and if a new filter is built instead?",
	Says: "Sec. 5.4: with the load rate \"the time cost of these operations increases slightly. However, the time cost of lazy update keeps the lowest and that of " +
		"rebuilding EBF keeps the highest\".",
	Quick: lab.Params{lab.Ints("sizes, log2", 15, 17), lab.Floats("loads", 0.25, 0.5, 0.75, 1), lab.Int("rounds", 5)},
	Full:  lab.Params{lab.Ints("sizes, log2", 15, 18, 20, 22), lab.Floats("loads", 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1), lab.Int("rounds", 11)},
	Run:   runFig8b,
}

// The three ways to a larger filter.
var ways = []string{"lazy update", "normal expansion", "building anew"}

// expanding is the work of Fig. 8b.
func expanding(size int, load float64) string { return fmt.Sprintf("from 2^%d at %v", size, load) }

func runFig8b(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	sizes, loads, times := e.Ints("sizes, log2"), e.Floats("loads"), rounds{}
	for i, size := range sizes {
		for j, load := range loads {
			e.Progress(i*len(loads)+j, len(sizes)*len(loads))
			for round := range e.Int("rounds") {
				r := e.Rand(uint64(size)<<32 | uint64(j)<<16 | uint64(round))
				t, err := timeExpansion(r, size, load)
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					return nil, err
				}
				times.Add(t)
			}
		}
	}
	result := &lab.Result{Checks: fig8bChecks(sizes, loads, times), Tables: []lab.Table{expansionTable(sizes, loads, times)}, Notes: []string{
		timed + timing.ThreadName + ".", "Distinct Stream, k = 5, D = 8, b = 3. Load 1 is as many keys as the threshold Ω = 0.2 allows. Building anew adds all keys to a filter that has the doubled size from the start; it needs the keys, which the other ways do not.",
	}}
	for _, size := range sizes {
		result.Plots = append(result.Plots, expansionPlot(size, loads, times))
	}
	return result, nil
}

// expansible is an empty filter of 2^size bits.
func expansible(size int, eager bool, salt uint64) (*elastic.Filter, error) {
	return elastic.New(elastic.Config{
		Items: uint64(0.9 * fullKeys(size)), FPR: tableRate, Hashes: tableHashes, Slots: tableSlots, Branches: tableBranches, HashBits: hashBits, Eager: eager, Salt: salt,
	})
}

// timeExpansion doubles two filters with the same keys and builds a third.
func timeExpansion(r *rand.Rand, size int, load float64) (*turns, error) {
	keys, salt := distinct(r, int(load*fullKeys(size))), r.Uint64()
	var grown [2]*elastic.Filter
	for i := range grown {
		var err error
		if grown[i], err = expansible(size, i == 1, salt); err != nil {
			return nil, err
		}
		if err := addFixed(grown[i], keys, size); err != nil {
			return nil, err
		}
	}
	t := timing.NewTurns(timing.Thread)
	t.Shift = r.IntN(len(ways))
	var failed error
	t.Stride(expanding(size, load), ways, 1, func(i int) {
		var err error
		if i < len(grown) {
			err = grown[i].Grow()
		} else {
			err = rebuild(keys, size+1, salt)
		}
		if err != nil {
			failed = err
		}
	})
	return t, failed
}

// addFixed adds keys that must not make the filter expand. The set-bit rate
// scatters, so that those at the threshold may be a few too many: they are left out.
func addFixed(f *elastic.Filter, keys []filter.Key, size int) error {
	if f.Bits() != 1<<size {
		return fmt.Errorf("ebf21: %d bits, want 2^%d", f.Bits(), size)
	}
	for _, k := range keys {
		if f.Info().Fill >= tableThreshold-1e-3 {
			return nil
		}
		if _, err := f.Add(k); err != nil {
			return err
		}
	}
	return nil
}

func rebuild(keys []filter.Key, size int, salt uint64) error {
	f, err := expansible(size, false, salt)
	if err != nil {
		return err
	}
	return addEach(f, keys)
}

func expansionPlot(size int, loads []float64, times rounds) lab.Plot {
	p := lab.Plot{
		Name: fmt.Sprintf("from-2-%d", size), Title: fmt.Sprintf("Time of an expansion from 2^%d bits", size),
		X: lab.Axis{Label: "keys, as a share of those at the threshold", Percent: true}, Y: lab.Axis{Label: "ms", Log: true},
	}
	for _, way := range ways {
		s := lab.Series{Name: way, Style: lab.LinePoints}
		for _, load := range loads {
			s.Points = append(s.Points, lab.Point{X: load, Y: times.Nanos(way, expanding(size, load)) / 1e6})
		}
		p.Series = append(p.Series, s)
	}
	return p
}

func expansionTable(sizes []int, loads []float64, times rounds) lab.Table {
	t := lab.Table{Name: "times", Title: "Time of an expansion in ms", Columns: append([]string{"log2 size", "load"}, ways...)}
	for _, size := range sizes {
		for _, load := range loads {
			row := []any{size, load}
			for _, way := range ways {
				row = append(row, lab.Digits(times.Nanos(way, expanding(size, load))/1e6, 3))
			}
			t.Add(row...)
		}
	}
	return t
}

// fig8bChecks are the sentences of the text, for every size.
func fig8bChecks(sizes []int, loads []float64, times rounds) []lab.Check {
	var checks []lab.Check
	for _, size := range sizes {
		lazy := speedCheck{name: fmt.Sprintf("2^%d: lazy update against normal expansion (load)", size), claim: "\"the time cost of lazy update keeps the lowest\"", at: loads}
		anew := speedCheck{name: fmt.Sprintf("2^%d: building anew against normal expansion (load)", size), claim: "\"that of rebuilding EBF keeps the highest\"", reason: rebuildReason, reach: rebuildReach, at: loads, slower: true}
		for _, load := range loads {
			lazy.times = append(lazy.times, times.Speedup(ways[0], ways[1], expanding(size, load)))
			anew.times = append(anew.times, times.Speedup(ways[2], ways[1], expanding(size, load)))
		}
		checks = append(checks, lazy.check(), anew.check(), increase(size, loads, times))
	}
	return checks
}

// increase shows how the times go with the load; how much is slightly the paper
// does not say.
func increase(size int, loads []float64, times rounds) lab.Check {
	first, last, ours := expanding(size, loads[0]), expanding(size, loads[len(loads)-1]), ""
	for _, way := range ways {
		ours += fmt.Sprintf("%s %s times, ", way, lab.Digits(times.Nanos(way, last)/times.Nanos(way, first), 2))
	}
	return lab.Show(fmt.Sprintf("2^%d: time at load %v over that at %v (\"increases slightly\")", size, loads[len(loads)-1], loads[0]), ours[:len(ours)-2])
}
