package field

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

var threads = lab.Experiment{
	ID:       "field/threads",
	Title:    "One to sixteen goroutines",
	Question: "How much faster do several goroutines add and ask than one, in kinds that are made for it and in sets with locks?",
	Says:     "docs/choosing.md: evergreen and parallel may be used by many goroutines at a time; a Set of any kind may. [EBF21] Fig. 7 has 1, 4 and 16 threads.",
	Params:   lab.Params{lab.Int("keys", 64_000).Full(2_000_000), lab.Ints("goroutines", 1, 2, 4, 8, 16), lab.Int("rounds", 5).Full(11)},
	Run:      runThreads,
	Plots:    []lab.View{threadsView("add", "Adds of several goroutines, time on the wall"), threadsView("query", "Queries of several goroutines, time on the wall")},
	Claims: []lab.Claim{
		{Name: "no false negatives", Printed: "a set may be used by many goroutines", Where: "README", Of: lab.Of("keys lost"), Is: lab.Zero(lab.Of("keys asked about"))},
		// Time on the wall depends on what else the machine does: it is shown, not judged.
		threadsClaim("query", 2), threadsClaim("query", 16), threadsClaim("add", 2), threadsClaim("add", 16),
	},
}

func threadsView(lap, title string) lab.View {
	return lab.View{Name: lap, Title: title, X: "goroutines", By: lab.Contenders, XAxis: lab.Axis{Label: "goroutines", Log: true}, Y: lab.Axis{Label: "ns per key", Log: true}, Curves: []lab.Curve{{Measured: lap}}}
}

func threadsClaim(lap string, goroutines int) lab.Claim {
	return lab.Claim{Kind: lab.Question, Name: fmt.Sprintf("%s: %d goroutines to one", lap, goroutines), Of: lab.Of(lap, "goroutines", goroutines).Over(lab.Of(lap, "goroutines", 1)), Is: lab.Shows()}
}

// inSet ends the names of contenders that are sets.
const inSet = ", in a Set"

// concurrent are the kinds that many goroutines may use, and two sets.
func concurrent() (names []string) {
	for _, k := range kinds.All() {
		if k.Abilities().Concurrent {
			names = append(names, k.Name)
		}
	}
	return append(names, "blocked"+inSet, "perennial"+inSet)
}

func runThreads(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, lost := e.Int("keys"), atomic.Int64{}
	return lab.Find(ctx, e, lab.Race{
		Name: "times", Title: "Time per key, on the wall", Dims: []lab.Dim{lab.Along("goroutines", e.Ints("goroutines")...)}, Contenders: concurrent(), Rounds: e.Int("rounds"), Wall: true,
		Start: func(at lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			add, has, err := shared(name, n)
			k, crew := walk.NewKeys(r), at.Int("goroutines")
			return []lab.Lap{
				{Name: "add", Ops: n, Run: func() error { return together(crew, n, func(i int) error { return add(k.Present(i)) }) }},
				{Name: "query", Ops: n, Run: func() error {
					return together(crew, n, func(i int) error {
						if !has(k.Present(i)) {
							lost.Add(1)
						}
						return nil
					})
				}},
			}, err
		},
	}, lab.Computed("lost", "In all rounds", nil, lab.Formula{Name: "keys lost", Of: func(lab.At) float64 { return float64(lost.Load()) }}, lab.Fixed("keys asked about", lab.Plain, float64(n*e.Int("rounds")*len(e.Ints("goroutines"))*len(concurrent())))), lab.Notes{
		fmt.Sprintf("The machine ran %d goroutines at a time. More of them show what contention costs, not what more processors would gain.", runtime.GOMAXPROCS(0)),
	})
}

// shared returns what goroutines do to a filter, or to a set.
func shared(name string, n int) (add func(filter.Key) error, has func(filter.Key) bool, err error) {
	if kind, ok := strings.CutSuffix(name, inSet); ok {
		set, err := everbloom.New(everbloom.Needs{Items: uint64(n), FPR: rate, Kind: kind})
		add = func(k filter.Key) error { _, err := set.AddUint64(uint64(k)); return err }
		return add, func(k filter.Key) bool { return set.MayContainUint64(uint64(k)) }, err
	}
	s, err := newSubject(name, n, rate, walk.Keys{})
	return func(k filter.Key) error { _, err := s.Add(k); return err }, func(k filter.Key) bool { return s.MayContain(k) }, err
}

// together divides the work among goroutines.
func together(crew, n int, do func(i int) error) error {
	var all sync.WaitGroup
	errs := make([]error, crew)
	for c := range crew {
		all.Go(func() {
			for i := c * n / crew; i < (c+1)*n/crew && errs[c] == nil; i++ {
				errs[c] = do(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
