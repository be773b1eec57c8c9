package ebf21

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/timing"
)

var fig7 = lab.Experiment{
	ID:       "ebf21/fig7",
	Paper:    "[EBF21]",
	Title:    "Fig. 7: the speed with several threads",
	Question: "How fast are an elastic filter and Par-BF when several threads mix insertions and queries?",
	Says:     "Sec. 5.3: \"using 4 threads and 16 threads ... the MOPS of EBF is higher than that of Par-BF\"; the multi-thread technique \"is helpful\". It is not described.",
	Quick: lab.Params{
		lab.Int("initial size, log2", tableSize), lab.Float("peak", 8), lab.Ints("queries of each sort", 2, 16), lab.Ints("threads", 1, 2, 4, 16), lab.Int("rounds", 3),
	},
	Full: lab.Params{
		lab.Int("initial size, log2", peakSize), lab.Float("peak", 16), lab.Ints("queries of each sort", 2, 4, 8, 16, 32), lab.Ints("threads", 1, 2, 4, 16), lab.Int("rounds", 5),
	},
	Run: runFig7,
}

// parts is how many lists Par-BF has, and shards the sharded EBF.
const parts, partBits = 16, 4

// sharded is an EBF for several writers: keys are split over as many filters as
// Par-BF has lists.
type sharded []filter.Filter

func (s sharded) of(k filter.Key) filter.Filter  { return s[k>>(64-partBits)] }
func (s sharded) Add(k filter.Key) (bool, error) { return s.of(k).Add(k) }
func (s sharded) MayContain(k filter.Key) bool   { return s.of(k).MayContain(k) }
func (s sharded) Info() filter.Info              { return s[0].Info() }
func newSharded(size int, salt uint64) (sharded, error) {
	s := make(sharded, parts)
	for i := range s {
		var err error
		if s[i], err = elasticOne.build(size-partBits, salt); err != nil {
			return nil, err
		}
	}
	return s, nil
}

var inFig7 = []contender{
	elasticOne,
	{shardedEBF, 3, func(size int, salt uint64) (filter.Filter, error) { return newSharded(size, salt) }},
	{"Par-BF", 2, func(size int, salt uint64) (filter.Filter, error) {
		positions := uint64(1) << (size - partBits)
		return dynamic.BuildParallel(dynamic.ParallelShape{Partitions: parts, Shape: dynamic.Shape{
			Positions: positions, Hashes: tableHashes, CounterBits: 4, Full: uint64(tableThreshold * float64(positions)), Salt: salt,
		}})
	}},
}

// shardedEBF is the contender whose writers go side by side.
const shardedEBF = "EBF, 16 shards"

// crew is the work of Fig. 7.
func crew(threads, queries int) string {
	return fmt.Sprintf("%d threads, 1:%d:%d", threads, queries, queries)
}

func runFig7(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	size, ratios := e.Int("initial size, log2"), e.Ints("queries of each sort")
	var can, cannot []int
	for _, threads := range e.Ints("threads") {
		if threads <= runtime.GOMAXPROCS(0) {
			can = append(can, threads)
		} else {
			cannot = append(cannot, threads)
		}
	}
	n, times := int(math.Ldexp(e.Float("peak"), size-unitShare)), rounds{}
	for i, queries := range ratios {
		for j, threads := range can {
			e.Progress(i*len(can)+j, len(ratios)*len(can))
			for round := range e.Int("rounds") {
				r := e.Rand(uint64(i)<<32 | uint64(j)<<16 | uint64(round))
				t, err := timeCrew(ctx, r, size, n, queries, threads)
				if err != nil {
					return nil, err
				}
				times.Add(t)
			}
		}
	}
	return &lab.Result{
		Plots:  crewPlots(ratios, can, times),
		Tables: []lab.Table{crewTable(ratios, can, cannot, times)},
		Checks: fig7Checks(ratios, can, cannot, times),
		Notes: []string{
			timed + "time by the clock.",
			fmt.Sprintf("Distinct Stream, %d insertions, each thread with its share of them and of the queries. This machine runs %d threads at a time; what needs more is marked as not run.", n, runtime.GOMAXPROCS(0)),
			"Par-BF has 16 lists with a lock each. Our EBF has readers without locks and one writer at a time; with 16 shards writers go side by side, too. The total initial size is the same.",
		},
	}, nil
}

// timeCrew lets the contenders do the whole work in turns, with new filters.
func timeCrew(ctx context.Context, r *rand.Rand, size, n, queries, threads int) (*turns, error) {
	filters, names := make([]filter.Filter, len(inFig7)), make([]string, len(inFig7))
	for i, c := range inFig7 {
		var err error
		if filters[i], err = c.build(size, r.Uint64()); err != nil {
			return nil, err
		}
		names[i] = c.name
	}
	share := n / threads
	added, asked := make([][]filter.Key, threads), make([][]filter.Key, threads)
	for i := range threads {
		added[i] = distinct(r, share)
		asked[i] = mixQueries(r, added[i], share*queries)
	}
	t := timing.NewTurns(timing.Wall)
	errs := make([]error, threads)
	t.Shift = r.IntN(len(names))
	t.Stride(crew(threads, queries), names, threads*share*(1+2*queries), func(i int) {
		var all sync.WaitGroup
		for j := range threads {
			all.Go(func() {
				if err := mix(filters[i], added[j], asked[j]); err != nil {
					errs[j] = err
				}
			})
		}
		all.Wait()
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return t, ctx.Err()
}
