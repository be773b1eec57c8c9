package field

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/probe"
)

const (
	known  = "XXH3, known"
	secret = "SipHash, secret"
)

var adversary = lab.Experiment{
	ID:       "field/adversary",
	Title:    "An adversary who chooses keys",
	Question: "What does one gain who replays false positives, or who adds and asks about keys that the hash sends to one part of the filter?",
	Says:     "docs/choosing.md and package filter: XXH3 is for keys that nobody chooses; SipHash with a secret is for keys that others choose.",
	Quick:    adversaryParams(20_000, 20_000), Full: adversaryParams(1_000_000, 500_000),
	Run: runAdversary,
	Claims: []lab.Claim{
		{Name: "no false negatives", Printed: "a key that is in the set is always found", Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "crowded keys, secret hash", Printed: "the asked rate", Where: "package filter", Of: lab.Of("rate in the crowded part", "hash", secret), Is: lab.AtMost(lab.Number(0.01))},
		{Name: "crowded keys, known hash, blocked", Printed: "more than ten times the asked rate", Where: "docs/findings.md", Of: lab.Of("rate in the crowded part", "hash", known, "kind", "blocked"), Is: lab.Above(lab.Number(0.1))},
		{Name: "no refused keys, secret hash", Printed: "honest keys are never refused", Where: "package comments", Of: lab.Of("refused", "hash", secret), Is: lab.Zero(), Show: []lab.Pick{lab.Of("refused", "hash", known)}},
		{Name: "replayed false positives, same filter", Printed: "all of them, whatever the hash", Where: "docs/findings.md", Of: lab.Of("replayed, same filter"), Is: lab.AtLeast(lab.Number(1))},
		{Name: "replayed false positives, built again with a new secret", Printed: "one in ten at most", Where: "docs/findings.md", Of: lab.Of("replayed, built again", "hash", secret), Is: lab.AtMost(lab.Number(0.1))},
		{Kind: lab.Question, Name: "replayed false positives, built again with the known hash", Of: lab.Of("replayed, built again", "hash", known), Is: lab.Shows()},
	},
}

func adversaryParams(keys, queries int) lab.Params {
	return lab.Params{lab.Int("keys", keys), lab.Int("queries", queries), lab.Int("crowd, one key in", 10)}
}

// A siege is what an adversary got.
type siege struct{ rate, crowded, lost, refused, same, again float64 }

func runAdversary(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	queries := e.Int("queries")
	asked := func(lab.At) int { return queries }
	share := func(name string, of func(s siege) float64, asked func(lab.At) int) lab.Metric[siege] {
		return lab.Metric[siege]{Name: name, Unit: lab.InPercent, Of: of, Asked: asked}
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[siege]{
		Name: "sieges", Title: "What an adversary gets, asked for 1 %", Dims: []lab.Dim{lab.Among("kind", "deletable", "bloom", "blocked", "dleft", "perennial", "evergreen"), lab.Among("hash", known, secret)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (siege, error) {
			s, err := besiege(at.Name("kind"), at.Name("hash") == secret, e.Int("keys"), queries, e.Int("crowd, one key in"), r)
			return s, errors.Join(err, ctx.Err())
		},
		Metrics: []lab.Metric[siege]{
			share("rate", func(s siege) float64 { return s.rate }, asked),
			share("rate in the crowded part", func(s siege) float64 { return s.crowded }, asked),
			share("false negatives", func(s siege) float64 { return s.lost }, nil),
			share("refused", func(s siege) float64 { return s.refused }, nil),
			share("replayed, same filter", func(s siege) float64 { return s.same }, nil),
			share("replayed, built again", func(s siege) float64 { return s.again }, nil),
		},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{
		"The adversary computes XXH3 with seed 0 and adds one key to every ten honest ones, all of which fall into the first of 256 parts of the filter. Then absent keys of that sort are asked about. Where the filter's hash is SipHash with a secret, this is what the adversary believes.",
		"Replayed are absent keys that were answered with yes, to the same filter, and to one of the same keys that was built again: with the same hash, or with a new secret. Filters with a salt of their own differ even with the same hash.",
	}}, err
}

func hashOf(isSecret bool, r *rand.Rand) filter.Hash {
	if !isSecret {
		return filter.XXH3(0)
	}
	var key [16]byte
	for i := range key {
		key[i] = byte(r.Uint32())
	}
	return filter.SipHash(key)
}

// besiege fills a filter with honest and with chosen keys and asks it. Numbers of honest
// keys, of absent ones and of the adversary's begin apart.
func besiege(kind string, isSecret bool, n, queries, oneIn int, r *rand.Rand) (s siege, err error) {
	h, crowd := hashOf(isSecret, r), n/oneIn
	chosen := crowded(kind, 1<<62, crowd+queries)
	f, refused, err := fortress(kind, h, n, chosen[:crowd])
	if err != nil {
		return s, err
	}
	s.refused = float64(refused) / float64(crowd)
	var replay []uint64
	for i := range uint64(queries) {
		if f.MayContain(h.Uint64(1<<61 + i)) {
			replay = append(replay, 1<<61+i)
		}
	}
	s.rate = float64(len(replay)) / float64(queries)
	s.crowded = yesShare(f, h, chosen[crowd:])
	for i := range uint64(n) {
		if !f.MayContain(h.Uint64(i)) {
			s.lost += 1 / float64(n)
		}
	}
	s.same = yesShare(f, h, replay)
	h = hashOf(isSecret, r)
	if f, _, err = fortress(kind, h, n, chosen[:crowd]); err != nil {
		return s, err
	}
	s.again = yesShare(f, h, replay)
	return s, nil
}

// crowded returns numbers from a first one on whose known hash, mixed as the kind does
// without a salt, begins with eight zeros: the bits that choose a block.
func crowded(kind string, from uint64, count int) (list []uint64) {
	mixer := probe.NewMixer(0)
	mix := mixer.Mix
	if kind == "evergreen" {
		mix = func(k filter.Key) uint64 { return uint64(k) * uint64(mixer) }
	}
	for h := filter.XXH3(0); len(list) < count; from++ {
		if mix(h.Uint64(from))>>56 == 0 {
			list = append(list, from)
		}
	}
	return list
}

// fortress is a filter with n honest keys and the chosen ones, some of which it may refuse.
func fortress(kind string, h filter.Hash, n int, chosen []uint64) (f filter.Filter, refused int, err error) {
	if f, err = newKind(kind, n+len(chosen)); err != nil {
		return nil, 0, err
	}
	for i := range uint64(n) {
		if _, err := f.Add(h.Uint64(i)); err != nil {
			return nil, 0, err
		}
	}
	for _, x := range chosen {
		_, err := f.Add(h.Uint64(x))
		if errors.Is(err, filter.ErrFull) {
			refused++
		} else if err != nil {
			return nil, 0, err
		}
	}
	return f, refused, nil
}

func yesShare(f filter.Filter, h filter.Hash, list []uint64) float64 {
	yes := 0
	for _, x := range list {
		if f.MayContain(h.Uint64(x)) {
			yes++
		}
	}
	return float64(yes) / float64(max(len(list), 1))
}

var threads = lab.Experiment{
	ID:       "field/threads",
	Title:    "One to sixteen goroutines",
	Question: "How much faster do several goroutines add and ask than one, in kinds that are made for it and in sets with locks?",
	Says:     "docs/choosing.md: evergreen and parallel may be used by many goroutines at a time; a Set of any kind may. [EBF21] Fig. 7 has 1, 4 and 16 threads.",
	Quick:    threadsParams(64_000, 5), Full: threadsParams(2_000_000, 11),
	Run: runThreads,
	Plots: []lab.View{
		{Name: "adds", Title: "Adds of several goroutines, time on the wall", X: "goroutines", By: lab.Contenders, XAxis: lab.Axis{Label: "goroutines", Log: true}, Y: lab.Axis{Label: "ns per key", Log: true}, Curves: []lab.Curve{{Measured: "add"}}},
		{Name: "queries", Title: "Queries of several goroutines, time on the wall", X: "goroutines", By: lab.Contenders, XAxis: lab.Axis{Label: "goroutines", Log: true}, Y: lab.Axis{Label: "ns per key", Log: true}, Curves: []lab.Curve{{Measured: "query"}}},
	},
	Claims: []lab.Claim{
		{Name: "no false negatives", Printed: "a set may be used by many goroutines", Where: "README", Of: lab.Of("keys lost"), Is: lab.Zero()},
		{Name: "queries of 16 goroutines to those of one", Printed: "take less than twice the time, however many processors there are", Where: "docs/findings.md", Of: lab.Of("query", "goroutines", 16).Over(lab.Of("query", "goroutines", 1)), Is: lab.AtMost(lab.Number(2))},
		{Kind: lab.Question, Name: "adds of two goroutines to those of one", Of: lab.Of("add", "goroutines", 2).Over(lab.Of("add", "goroutines", 1)), Is: lab.Shows()},
		{Kind: lab.Question, Name: "adds of 16 goroutines to those of one", Of: lab.Of("add", "goroutines", 16).Over(lab.Of("add", "goroutines", 1)), Is: lab.Shows()},
	},
}

func threadsParams(keys, rounds int) lab.Params {
	return lab.Params{lab.Int("keys", keys), lab.Ints("goroutines", 1, 2, 4, 8, 16), lab.Int("rounds", rounds)}
}

// concurrent are the kinds that many goroutines may use, and two sets.
func concurrent() (names []string) {
	for _, k := range kinds.All() {
		if k.Abilities().Concurrent {
			names = append(names, k.Name)
		}
	}
	return append(names, "blocked, in a Set", "perennial, in a Set")
}

func runThreads(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, names, lost := e.Int("keys"), concurrent(), atomic.Int64{}
	g, err := lab.Race{
		Name: "times", Title: "Time per key, on the wall", Dims: []lab.Dim{lab.Along("goroutines", e.Ints("goroutines")...)}, Contenders: names, Rounds: e.Int("rounds"), Wall: true,
		Start: func(at lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			s, err := sharedSet(name, n)
			k, crew := walk.NewKeys(r), at.Int("goroutines")
			return []lab.Lap{
				{Name: "add", Ops: n, Run: func() error { return together(crew, n, func(i int) error { return s.Add(k.Member(i)) }) }},
				{Name: "query", Ops: n, Run: func() error {
					return together(crew, n, func(i int) error {
						if !s.Has(k.Member(i)) {
							lost.Add(1)
						}
						return nil
					})
				}},
			}, err
		},
	}.Run(ctx, e)
	all := lab.Computed("lost", "In all rounds", nil, lab.Formula{Name: "keys lost", Of: func(lab.At) float64 { return float64(lost.Load()) }})
	return &lab.Result{Grids: []*lab.Grid{g, all}, Notes: []string{
		fmt.Sprintf("The machine ran %d goroutines at a time. More of them show what contention costs, not what more processors would gain.", runtime.GOMAXPROCS(0)),
	}}, err
}

func sharedSet(name string, n int) (walk.Shared, error) {
	if kind, ok := inSet[name]; ok {
		return walk.SetOf(everbloom.Needs{Items: uint64(n), FPR: 0.01, Kind: kind})
	}
	f, err := newKind(name, n)
	if err != nil {
		return walk.Shared{}, err
	}
	return walk.Shared{Add: func(k filter.Key) error { _, err := f.Add(k); return err }, Has: f.MayContain}, nil
}

var inSet = map[string]string{"blocked, in a Set": "blocked", "perennial, in a Set": "perennial"}

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
