package ebf21

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/timing"
)

var fig5 = lab.Experiment{
	ID:       "ebf21/fig5",
	Paper:    "[EBF21]",
	Title:    "Fig. 5: the speed of each operation",
	Question: "How fast are insertion, query and deletion in an elastic, a dynamic and a scalable filter, by how far the set has outgrown the initial size?",
	Says: "Sec. 5.3: 2^18 bits at first, equal thresholds of the rate. \"The insertion speed of EBF is slower than the other two\"; \"its query speed is much faster " +
		"than the other two\"; \"the deletion speed of EBF is faster when the relative peak data size is larger than 16\".",
	Quick: lab.Params{
		lab.Int("initial size, log2", tableSize), lab.Floats("peaks", 1, 4, 16, 32), lab.Int("queries", 1<<13), lab.Int("rounds", 3),
	},
	Full: lab.Params{
		lab.Int("initial size, log2", peakSize), lab.Floats("peaks", 1, 2, 4, 8, 16, 32, 64), lab.Int("queries", 1<<18), lab.Int("rounds", 5),
	},
	Run: runFig5,
}

// The operations of Fig. 5.
const (
	insertion = "insertion"
	present   = "positive query"
	absent    = "random query"
	deletion  = "deletion"
)

// strideLength is short against the changes of a machine and long against the
// misses that the contender before leaves behind.
const strideLength = 1 << 10

// evenDBF is the DBF of which all units together have the rate of the others.
const evenDBF = "DBF, equal rate"

// inFig5 are the contenders for n keys.
func inFig5(size int, n float64) []contender {
	even := dynamicOne(evenDBF, 4, evenFill(size, n))
	even.color = 4
	return []contender{elasticOne, countingDynamic, even, doublingOne, tighteningOne}
}

func runFig5(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	size, peaks := e.Int("initial size, log2"), e.Floats("peaks")
	var all []rounds
	for i, peak := range peaks {
		e.Progress(i, len(peaks))
		n := int(math.Ldexp(peak, size-unitShare))
		times := rounds{}
		for round := range e.Int("rounds") {
			t, err := timeOperations(ctx, e.Rand(uint64(i)<<32|uint64(round)), inFig5(size, float64(n)), size, n, e.Int("queries"))
			if err != nil {
				return nil, err
			}
			times.Add(t)
		}
		all = append(all, times)
	}
	result := &lab.Result{Checks: fig5Checks(peaks, all), Notes: []string{
		timed + timing.ThreadName + ".",
		"Distinct Stream. Dynamic filters have counters of 4 bits, so that they can delete. \"Equal thresholds\" may mean that every unit of a DBF is full at Ω^k, or that all units together have that rate in the end (\"equal rate\"): both are shown.",
		"All keys are deleted, in no order, so that compressions are in the mean. The others do not shrink, or drop units.",
	}}
	for _, work := range []string{insertion, present, absent, deletion} {
		result.Plots = append(result.Plots, speedPlot(work, peaks, all, inFig5(size, 1)))
	}
	result.Tables = []lab.Table{nanoTable(peaks, all, inFig5(size, 1))}
	return result, nil
}

// timeOperations builds the filters, fills them, asks and empties them.
func timeOperations(ctx context.Context, r *rand.Rand, chosen []contender, size, n, queries int) (*turns, error) {
	filters, names := make([]filter.Filter, len(chosen)), make([]string, len(chosen))
	for i, c := range chosen {
		var err error
		if filters[i], err = c.build(size, r.Uint64()); err != nil {
			return nil, err
		}
		names[i] = c.name
	}
	keys, t := distinct(r, n), timing.NewTurns(timing.Thread)
	var failed error
	for part := range chunks(ctx, keys, strideLength) {
		t.Stride(insertion, names, len(part), func(i int) {
			if err := addEach(filters[i], part); err != nil {
				failed = err
			}
		})
	}
	hits := make([]filter.Key, queries)
	for i := range hits {
		hits[i] = keys[r.IntN(n)]
	}
	for part := range chunks(ctx, hits, strideLength) {
		t.Stride(present, names, len(part), func(i int) { askEach(filters[i], part) })
	}
	for part := range chunks(ctx, distinct(r, queries), strideLength) {
		t.Stride(absent, names, len(part), func(i int) { askEach(filters[i], part) })
	}
	r.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for part := range chunks(ctx, keys, strideLength) {
		t.Stride(deletion, names[:3], len(part), func(i int) { deleteEach(filters[i], part) })
	}
	if failed == nil {
		failed = ctx.Err()
	}
	return t, failed
}

// fig5Checks are the sentences of the text.
func fig5Checks(peaks []float64, all []rounds) []lab.Check {
	against := func(other, work string, from float64) (at, times []float64) {
		for i, peak := range peaks {
			if peak >= from {
				at, times = append(at, peak), append(times, all[i].Speedup("EBF", other, work))
			}
		}
		return at, times
	}
	var checks []lab.Check
	claim := func(c speedCheck, work, other string, from float64) {
		c.name = fmt.Sprintf("%s, EBF against %s", work, other)
		c.at, c.times = against(other, work, from)
		checks = append(checks, c.check())
	}
	for _, other := range []string{"DBF", "SBF"} {
		claim(speedCheck{claim: "\"the insertion speed of EBF is slower than the other two\"", slower: true}, insertion, other, 0)
		claim(speedCheck{claim: "\"its query speed is much faster than the other two\""}, present, other, 0)
		claim(speedCheck{claim: "\"its query speed is much faster than the other two\""}, absent, other, 0)
	}
	for _, other := range []string{"DBF", evenDBF} {
		claim(speedCheck{claim: "faster when the relative peak data size is larger than 16", reason: deleteReason, reach: deleteReach}, deletion, other, 17)
	}
	return append(checks, unitsCost(peaks, all), crossing(peaks, all, "DBF"), crossing(peaks, all, evenDBF))
}

// unitsCost checks the part of deleteReason that can be checked, which is also what
// Sec. 2.2 says of queries: a DBF pays for every unit.
func unitsCost(peaks []float64, all []rounds) lab.Check {
	first, last := all[0], all[len(all)-1]
	var ours []string
	ok := len(all) > 1
	for _, work := range []string{absent, deletion} {
		from, to := first.Nanos("DBF", work), last.Nanos("DBF", work)
		ok = ok && to > from
		ours = append(ours, fmt.Sprintf("%s %s times", work, lab.Digits(to/max(from, 1e-9), 3)))
	}
	return lab.Holds("what a DBF needs grows with its units", "Sec. 2.2: the query time of DBF increases linearly",
		fmt.Sprintf("%s, for %v times the keys", strings.Join(ours, ", "), peaks[len(peaks)-1]/peaks[0]), ok, "longer at the last size than at the first; by how much is the machine's, so that \"linearly\" is not judged; a timing").Timed()
}

// crossing shows from where on deletion is faster.
func crossing(peaks []float64, all []rounds, other string) lab.Check {
	from := "at no size of this run"
	for i := len(peaks) - 1; i >= 0 && all[i].Speedup("EBF", other, deletion) > 1; i-- {
		from = fmt.Sprintf("from a relative peak data size of %v on", peaks[i])
	}
	return lab.Show("deletion in EBF is faster than in "+other, from)
}
